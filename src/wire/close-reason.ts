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
  CLEAN: 1000,
  GOING_AWAY: 1001,
  PROTOCOL_ERROR: 1002,
  WRONG_MESSAGE_KIND: 1003,
  /** Never sent: the socket died without a close frame. */
  ABNORMAL: 1006,
  POLICY: 1008,
  TOO_BIG: 1009,
  INTERNAL: 1011,
  RESTART: 1012,
} as const;

/** Browsers let a program send only 1000 and codes from this one on. */
const FIRST_FREE_CLOSE_CODE = 3000;

/** Returns the code that a browser sends instead of a code below 3000, other than 1000 (C9). */
export function browserCode(code: number): number {
  return code === CloseCode.CLEAN || code >= FIRST_FREE_CLOSE_CODE ? code : code + FIRST_FREE_CLOSE_CODE;
}
