import type { Stream } from '../../stream/stream.js';

/** Errors for streams that no code takes. */
const errors = new WeakMap<Stream, () => Error>();

/** Sets the error for an untaken stream. An operator calls it to name a better reason. */
export function whenUntaken(stream: Stream, error: () => Error): void {
  errors.set(stream, error);
}

/** Returns the error that an operator has set for a stream, if any. */
export function untakenError(stream: Stream): Error | undefined {
  return errors.get(stream)?.();
}
