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
