import type { Stream } from './stream.js';

/** Errors for streams that no code takes. */
const errors = new WeakMap<Stream, () => Error>();

/** Sets the error for a stream, where an operator knows more than that no code takes the stream. */
export function whenUntaken(stream: Stream, error: () => Error): void {
  errors.set(stream, error);
}

/** The error that an operator left for a stream, if one did. */
export function untakenError(stream: Stream): Error | undefined {
  return errors.get(stream)?.();
}
