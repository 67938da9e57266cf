import { isMuxError } from '../wire/errors.js';
import { ResetCode } from '../wire/reset-code.js';
import { messageOf } from './error-serializer.js';
import type { ErrorSerializer } from './hooks.js';

/** The reset that tells the remote what a handler or an input threw. */
export interface Failure {
  readonly code: ResetCode | null;
  readonly reason: string;
  /** `null` for none. */
  readonly payload: unknown;
}

/**
 * Turns what was thrown into a reset. An error that carries a reset code of its own goes out as that reset; but REFUSED
 * vouches that nothing was done, so behind a first frame it is an ordinary failure.
 *
 * The reason is the `message` of the serializer's value where it has one, so that a serializer can redact both.
 */
export function failureOf(error: unknown, serializer: ErrorSerializer, hasSent: boolean): Failure {
  if (isMuxError(error) && 'resetCode' in error && !(error.code === 'REFUSED' && hasSent)) {
    return {
      code: error.code === 'REFUSED' ? ResetCode.REFUSED : error.resetCode,
      reason: error.reason,
      payload: 'payload' in error ? error.payload : null,
    };
  }
  const payload = serialized(error, serializer);
  const text: unknown = typeof payload === 'object' && payload !== null && 'message' in payload ? payload.message : null;
  return { code: ResetCode.APPLICATION_ERROR, reason: typeof text === 'string' ? text : messageOf(error), payload };
}

function serialized(error: unknown, serializer: ErrorSerializer): unknown {
  try {
    return serializer(error) ?? null;
  } catch {
    return null;
  }
}
