import { log } from '../logger.js';
import { isMuxError } from '../wire/any-error.js';
import { ResetCode } from '../wire/reset-code.js';
import { isError } from '../wire/cross-realm.js';
import { defaultErrorSerializer, messageOf } from './error-serializer.js';
import { refuseThenable } from './guard.js';
import type { ErrorSerializer } from './hooks.js';

/** The reset that tells the remote what a handler or an input threw. */
export interface ErrorReset {
  readonly code: ResetCode | null;
  readonly reason: string;
  /** `null` for none. */
  readonly payload: unknown;
}

/**
 * Turns what was thrown into a reset. One that a proxied call failed with goes out as it came, and any other error with an
 * integer as its `resetCode` under that code. But never as REFUSED, which vouches that nothing was done, and what tells of a
 * failed application is left to a serializer that the owner has given.
 *
 * The reason is the `message` of the serializer's value where it has one, so that a serializer can redact both.
 */
export function resetOf(error: unknown, serializer: ErrorSerializer): ErrorReset {
  return (
    tryRead(() => ownReset(error, serializer)) ??
    serialized(error, serializer, tryRead(() => ownCode(error)) ?? ResetCode.APPLICATION_ERROR)
  );
}

/** Reads from a thrown value; a getter that throws counts as absent. */
function tryRead<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** The reset that an error stands for by itself. */
function ownReset(error: unknown, serializer: ErrorSerializer): ErrorReset | null {
  if (!isMuxError(error) || !('resetCode' in error) || error.code === 'REFUSED') return null;
  const { resetCode: code, reason } = error;
  // Another copy of the package, or somebody else's error that looks like one, may hold anything.
  if ((code !== null && !Number.isSafeInteger(code)) || typeof reason !== 'string') return null;
  if (code === ResetCode.REFUSED || (code === ResetCode.APPLICATION_ERROR && serializer !== defaultErrorSerializer)) return null;
  return { code, reason, payload: 'payload' in error ? error.payload : null };
}

/** The code that an error goes out under, whatever else it is. */
function ownCode(error: unknown): ResetCode | null {
  if (!isError(error) || !('resetCode' in error)) return null;
  const { resetCode: code } = error;
  return typeof code === 'number' && Number.isSafeInteger(code) && code !== ResetCode.REFUSED ? code : null;
}

function serialized(error: unknown, serializer: ErrorSerializer, code: ResetCode): ErrorReset {
  try {
    const payload = asked(serializer, error);
    const text: unknown = typeof payload === 'object' && payload !== null && 'message' in payload ? payload.message : null;
    return { code, reason: typeof text === 'string' ? text : messageOf(error), payload };
  } catch {
    return { code, reason: messageOf(error), payload: null };
  }
}

function asked(serializer: ErrorSerializer, error: unknown): unknown {
  try {
    const payload = serializer(error) ?? null;
    refuseThenable('the error serializer', payload);
    return payload;
  } catch (failure) {
    log('warn', 'an error serializer failed', failure);
    throw failure;
  }
}
