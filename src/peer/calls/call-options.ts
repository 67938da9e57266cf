import type { MetadataInput } from '../../wire/frame.js';
import type { NamesOf } from '../../util/check.js';
import type { Overflow } from '../stream/overflow.js';
import type { Input } from '../../stream/input.js';
import type { Retry } from '../safe-retry.js';
import type { Stream } from '../../stream/stream.js';

/** Options of every call. */
export interface OpenOptions<In = unknown, Out = unknown> {
  /** Headers of the open; the open interceptors see a copy. Default none. */
  readonly headers?: MetadataInput | undefined;
  /** Cancels the stream when it aborts. Default none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the whole stream may take, in ms; with `retry`, how long each attempt may take. 0 is no limit. Default `requestTimeoutMs`
   * of requests, 0 of others.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Receives the stream of a call that does not return it, for reply headers and trailers. The open is already on its way: an error
   * that this throws cancels the stream, and the call fails with it. A promise is not awaited, and its rejection is logged. Default
   * none.
   */
  readonly onOpen?: ((stream: Stream<In, Out>) => void) | undefined;
  /**
   * Makes this call again if the remote provably never began it, but repeats no operator piped after the call. Has no effect on `open`.
   * When the peer closes between two attempts, the call fails with the error of the last one. Default `false`.
   */
  readonly retry?: false | 'safe' | Retry | undefined;
}

/** Names {@link OpenOptions}. */
export const OPEN_NAMES: NamesOf<OpenOptions> = { headers: true, signal: true, timeoutMs: true, onOpen: true, retry: true };

/** Names the options of an `open`. */
export const STREAM_NAMES = { ...OPEN_NAMES, end: true };

/** Options of a two-way call. */
export interface InputOptions<Out = unknown> {
  /**
   * Sends its values as data, and its completion as the end.
   *
   * An async generator that is waiting when the stream ends stops at its next value. A generator that waits for long should listen to
   * the `signal` of the stream, or be an Observable. `onOpen` receives the stream before a function here is called. Default none: the
   * open carries the end.
   */
  readonly input?: Input<Out> | undefined;
  /** Decides about a value that an Observable pushes while the stream's queue is full. Default `'buffer'`. */
  readonly overflow?: Overflow | undefined;
}

/** Names the options of an `open$`. */
export const INPUT_NAMES: NamesOf<OpenOptions & InputOptions> = { ...OPEN_NAMES, input: true, overflow: true };

/** @throws TypeError unless `signal` is a signal */
export function checkSignal(signal: AbortSignal): void {
  if (typeof (signal as Partial<AbortSignal>).addEventListener !== 'function')
    throw new TypeError(`signal: expected an AbortSignal, got ${typeof signal}`);
}
