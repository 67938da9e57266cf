import { isError } from './cross-realm.js';
import type { CodecError, CodecMismatch, CodecNotRegistered, ConnectError, ProtocolError } from './errors.js';
import type { AnyStreamError } from './stream-errors.js';

/** Every error of this library. Its `code` narrows it, and so does its `name`. */
export type AnyMuxError =
  | AnyStreamError
  | ProtocolError
  | ConnectError
  | CodecNotRegistered
  | CodecMismatch
  | (CodecError & {
      /** An error of a codec without a class of its own. */
      readonly code: 'CODEC';
      /** The name of the class. */
      readonly name: 'CodecError';
    });

const CODES: Readonly<Record<AnyMuxError['code'], true>> = {
  PROTOCOL: true,
  CONNECT: true,
  CODEC: true,
  CODEC_NOT_REGISTERED: true,
  CODEC_MISMATCH: true,
  RESET: true,
  REMOTE: true,
  REFUSED: true,
  DEADLINE_EXCEEDED: true,
  CANCELLED: true,
  CONNECTION_LOST: true,
  QUEUE_OVERFLOW: true,
  IDS_EXHAUSTED: true,
};

/**
 * Whether an error is one of this library's. Its `code` must be a code of {@link AnyMuxError}, and its `retriable` a boolean. So an error
 * of a second copy of the package passes too. An error of another library with a `retriable` of its own does not pass.
 *
 * @example
 * ```ts
 * try { await peer.request('sum'); }
 * catch (error) { if (isMuxError(error) && error.code === 'REMOTE') show(error.payload); }
 * ```
 */
export function isMuxError(error: unknown): error is AnyMuxError {
  return (
    isError(error) &&
    'code' in error &&
    typeof error.code === 'string' &&
    Object.hasOwn(CODES, error.code) &&
    'retriable' in error &&
    typeof error.retriable === 'boolean'
  );
}
