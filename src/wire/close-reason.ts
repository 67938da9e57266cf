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
