import { declaredError } from '../stream/end.js';
import { randomInt32 } from '../util/random.js';
import { isMuxError, StreamError } from '../wire/errors.js';
import { ResetCode } from '../wire/codes.js';

const NAME = 'CursorLost';

/**
 * The log no longer keeps every message after a cursor. The broker has trimmed them, or has lost them, or the cursor is no place of the
 * log. A server sends this error past an `errorSerializer`, and {@link topic} makes it again.
 *
 * @example
 * ```ts
 * topic(peer, open).subscribe({ error: (error) => console.log(error) });
 * // CursorLost { resetTo: 'k3f:1042' }
 * ```
 */
export class CursorLost<C = unknown> extends StreamError {
  override readonly name = NAME;
  /** The code that a caller gets: a handler of the remote failed. */
  readonly code = 'REMOTE';
  /** The code of the reset. */
  readonly resetCode = ResetCode.APPLICATION_ERROR;
  /** The text beside the code; the same as `message`. */
  readonly reason: string;
  /** The error as the remote receives it. */
  readonly payload: {
    /** The name of the class. */
    readonly name: typeof NAME;
    /** The text of the error. */
    readonly message: string;
    /** The data that a subscriber needs to go on. */
    readonly data: {
      /** A place to go on from. */
      readonly resetTo: C;
    };
  };

  constructor(
    /** A place to go on from: the end of the log when the loss was noticed; of a room `null`, for a new subscriber. */
    readonly resetTo: C,
    message = 'the messages after the cursor are no longer kept',
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.reason = message;
    this.payload = { name: NAME, message, data: { resetTo } };
    declaredError(this);
  }
}

/** Returns the loss that an error of a call reports, or `null`. */
export function lossIn(error: unknown): CursorLost | null {
  if (error instanceof CursorLost) return error;
  // Not `instanceof`, because a program may load two copies of this package.
  if (!isMuxError(error) || error.code !== 'REMOTE') return null;
  const data = lostData(error.payload);
  return data && new CursorLost(data.resetTo, error.reason, { cause: error });
}

function lostData(payload: unknown): { readonly resetTo: unknown } | null {
  if (typeof payload !== 'object' || payload === null || !('name' in payload) || payload.name !== NAME) return null;
  const data = 'data' in payload ? payload.data : null;
  return typeof data === 'object' && data !== null && 'resetTo' in data ? data : null;
}

/** Makes a name for a life of a log, of 64 random bits: the cursors of another life are lost. */
export function newEpoch(): string {
  return [randomInt32(), randomInt32()].map((bits) => (bits >>> 0).toString(36)).join('');
}

/** The number in a cursor such as `k3f:12`; NaN for any other value. */
export function numberOf(cursor: unknown): number {
  return typeof cursor === 'string' ? Number(/^[a-z0-9]+:(\d+)$/.exec(cursor)?.[1]) : NaN;
}
