/**
 * Why a stream was reset or a connection goes away. Numbers are HTTP/2's where the meaning is the same. The library's own codes start at
 * 16, an application's at 256. The set is open: an unknown code is preserved as its integer.
 *
 * @example
 * ```ts
 * stream.reset(ResetCode.CANCEL, 'the user left the page');
 * stream.reset(300, 'quota used up');   // an application's own code
 * ```
 */
export const ResetCode = {
  /** goaway: a clean close. reset, after this side's end: stop uploading, the answer is complete and stands. */
  NO_ERROR: 0,
  /** The remote broke the rules of the wire. */
  PROTOCOL_ERROR: 1,
  /** This side failed. */
  INTERNAL_ERROR: 2,
  /** The receiver's buffer for this stream is full, and its consumer does not read. */
  FLOW_CONTROL: 3,
  /** Data after `end`. */
  STREAM_CLOSED: 5,
  /** A payload over the receiver's limit; the reason names the limit and the size. */
  PAYLOAD_TOO_LARGE: 6,
  /** Definitely not processed, so always safe to retry. */
  REFUSED: 7,
  /** The sender of the reset is no longer interested. */
  CANCEL: 8,
  /** A rate or memory limit; the reason names it. */
  ENHANCE_YOUR_CALM: 11,
  /** A handler failed: `payload` is the error serializer's value, `reason` its message. */
  APPLICATION_ERROR: 16,
  /** A time-out on the side that resets. */
  DEADLINE_EXCEEDED: 17,
} as const;

/** Any integer; {@link ResetCode} names the known ones. */
export type ResetCode = number;

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(ResetCode).map(([name, code]) => [code, name]));

/**
 * Returns the name of a reset code for messages and logs. Returns the number as text for a code without a name, or `'no code'` for
 * `null`.
 *
 * @example
 * ```ts
 * resetCodeName(8);      // 'CANCEL'
 * resetCodeName(300);    // '300'
 * resetCodeName(null);   // 'no code'
 * ```
 */
export function resetCodeName(code: ResetCode | null): string {
  return code === null ? 'no code' : (NAMES.get(code) ?? String(code));
}

/** The first code that applications may use as their own. */
export const FIRST_APPLICATION_CODE = 256;

/** Why a socket ended. Every close handler receives it. */
export interface CloseReason {
  /** WebSocket close code: 1000 clean, 1006 died without a close frame, 1008 policy (such as a subprotocol mismatch). */
  readonly code: number;
  /** Text of the close frame, or the empty string. */
  readonly reason: string;
  /** Whether a close handshake completed. */
  readonly wasClean: boolean;
  /**
   * Whether the reconnect helper will dial again, or has dialed again already after a goaway. `false` on a peer without that helper, and
   * after `close()`.
   */
  readonly willRetry: boolean;
}

/** The WebSocket close codes this library sends or interprets (RFC 6455 §7.4). */
export const CloseCode = {
  /** A close in good order. */
  CLEAN: 1000,
  /** The page, or the server, goes away. */
  GOING_AWAY: 1001,
  /** The remote broke a rule of the wire. */
  PROTOCOL_ERROR: 1002,
  /** A binary message under a text codec, or the reverse. */
  WRONG_MESSAGE_KIND: 1003,
  /** Never sent: the socket died without a close frame. */
  ABNORMAL: 1006,
  /** A policy or a limit of rate, such as another subprotocol or too many pings. */
  POLICY: 1008,
  /** A message over the limit of its receiver. */
  TOO_BIG: 1009,
  /** This side failed. */
  INTERNAL: 1011,
  /** The server restarts. Its clients may dial again. */
  RESTART: 1012,
} as const;

/** Browsers let a program send only 1000 and codes from this one on. */
const FIRST_FREE_CLOSE_CODE = 3000;

/** Returns the code that a browser sends instead of a code below 3000, other than 1000 (C9). */
export function browserCode(code: number): number {
  return code === CloseCode.CLEAN || code >= FIRST_FREE_CLOSE_CODE ? code : code + FIRST_FREE_CLOSE_CODE;
}
