import { log } from '../logger.js';
import { defaultErrorSerializer, messageOf } from '../peer/base/error-serializer.js';
import { refuseThenable } from '../peer/base/guard.js';
import type { ErrorSerializer } from '../peer/hooks.js';
import { isMuxError } from '../wire/any-error.js';
import { ResetCode } from '../wire/codes.js';
import { isError } from '../wire/cross-realm.js';
import type { MuxError } from '../wire/errors.js';

/** The reset that reports an error of a handler or an input to the remote. */
export interface ErrorReset {
  readonly code: ResetCode | null;
  readonly reason: string;
  /** `null` for none. */
  readonly payload: unknown;
}

/** The reason if the owner's serializer names none. An error's own text may hold secrets. */
const NO_REASON = 'internal error';

/** Errors that are part of a contract. */
const declared = new WeakSet();

/** Marks an error as part of a contract. The error then reaches the remote unchanged, past any serializer of the owner. Returns `error`. */
export function declaredError<E extends MuxError>(error: E): E {
  declared.add(error);
  return error;
}

/**
 * Turns a thrown error into a reset. An integer `resetCode` of the error becomes the reset's code. REFUSED is the exception, because it
 * promises that no work was done.
 *
 * The default serializer sends the error's message, and passes on an error that is itself a reset. An owner's serializer receives every
 * error, and the remote receives only the code of the error itself. The payload is then the serializer's value, and the reason is that
 * value's `message`.
 */
export function resetOf(error: unknown, serializer: ErrorSerializer): ErrorReset {
  const code = markedCode(error) ?? ResetCode.APPLICATION_ERROR;
  if (serializer !== defaultErrorSerializer && !declared.has(error as object)) return redacted(error, serializer, code);
  return tryRead(() => ownReset(error)) ?? plain(error, code);
}

/** Returns whether an error is meant for the remote, as a reset or with an integer `resetCode`. REFUSED is the exception. */
export function isForRemote(error: unknown): boolean {
  return markedCode(error) !== null || tryRead(() => ownReset(error)) !== null;
}

function markedCode(error: unknown): ResetCode | null {
  return tryRead(() => {
    if (!isError(error) || !('resetCode' in error)) return null;
    const { resetCode: code } = error;
    return typeof code === 'number' && Number.isSafeInteger(code) && code !== ResetCode.REFUSED ? code : null;
  });
}

/** Reads from a thrown value; a getter that throws counts as absent. */
function tryRead<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Returns the reset that an error itself describes, or `null`. */
function ownReset(error: unknown): ErrorReset | null {
  if (!isMuxError(error) || !('resetCode' in error) || error.code === 'REFUSED') return null;
  const { resetCode: code, reason } = error;
  // An error of another copy of the package, or a look-alike of another library, may hold any values.
  if ((code !== null && !Number.isSafeInteger(code)) || typeof reason !== 'string' || code === ResetCode.REFUSED) return null;
  return { code, reason, payload: 'payload' in error ? error.payload : null };
}

function plain(error: unknown, code: ResetCode): ErrorReset {
  return { code, reason: messageOf(error), payload: tryRead(() => defaultErrorSerializer(error)) };
}

function redacted(error: unknown, serializer: ErrorSerializer, code: ResetCode): ErrorReset {
  try {
    const payload = serializer(error) ?? null;
    refuseThenable('the error serializer', payload);
    const text: unknown = typeof payload === 'object' && payload !== null && 'message' in payload ? payload.message : null;
    return { code, reason: typeof text === 'string' ? text : NO_REASON, payload };
  } catch (failure) {
    log('warn', `an error serializer failed, and the remote gets '${NO_REASON}'`, failure);
    return { code, reason: NO_REASON, payload: null };
  }
}
