import type { ObservableInput } from 'rxjs';
import type { CloseCause } from '../../session/base/close-cause.js';
import { sendAll as feedAll } from '../../stream/feed.js';
import type { FeedOptions } from '../../stream/feed.js';
import { StreamIterator } from '../../stream/iterator.js';
import { outboxOf } from '../../stream/sending.js';
import { checkOptions } from '../../util/check.js';
import type { MetadataInput } from '../../wire/frame.js';
import { checkValue } from '../stream/check-value.js';
import { LeanStream } from '../stream/lean-stream.js';
import { END_NAMES, REPLY_NAMES, SEND_NAMES } from '../stream/send-options.js';
import type { EndOptions, ReplyOptions, SendOptions } from '../stream/send-options.js';
import { extrasOf } from '../stream/stream-extras.js';

/**
 * Sends one value, as `send` of a stream of `rxmux` does.
 *
 * @returns a promise that resolves once the stream has room for more. Its rejection need not be handled.
 * @throws TypeError for `undefined`, and for a value that the codec cannot represent
 *
 * @example
 * ```ts
 * for (const row of rows) await send(stream, row);   // no faster than the socket takes them
 * ```
 */
export function send(stream: LeanStream, value: unknown, options: SendOptions = {}): Promise<void> {
  checkValue(value);
  checkOptions(options, SEND_NAMES);
  return outboxOf(LeanStream.streamCore(stream)).send(value, options.headers);
}

/**
 * Sends the values of any Observable, promise, iterable, async iterable or ReadableStream, and then the end, as `sendAll` of a stream of
 * `rxmux` does.
 *
 * @returns a promise that resolves once the stream has accepted all values. Its rejection need not be handled.
 * @throws TypeError for an unknown `overflow`
 *
 * @example
 * ```ts
 * onStream(peer, (_, stream) => sendAll(stream, prices$, { overflow: 'latest' }));
 * ```
 */
export function sendAll(stream: LeanStream, input: ObservableInput<unknown> | Blob, options: FeedOptions = {}): Promise<void> {
  return feedAll(LeanStream.streamCore(stream), input, options);
}

/**
 * Sends one last value and the end, as `reply` of a stream of `rxmux` does.
 *
 * @returns a promise like the promise of {@link send}
 * @throws the same as {@link send}
 *
 * @example
 * ```ts
 * onStream(peer, (name, stream) => reply(stream, `hello ${name}`));
 * // at the remote: await peer.request('you') returns 'hello you'
 * ```
 */
export function reply(stream: LeanStream, value?: unknown, options: ReplyOptions = {}): Promise<void> {
  checkOptions(options, REPLY_NAMES);
  return outboxOf(LeanStream.streamCore(stream)).sendLast(value, options.headers, options.trailers);
}

/** Ends this side of a stream without a value, as `end` of a stream of `rxmux` does. The remote's side may go on (S2). */
export function end(stream: LeanStream, options: EndOptions = {}): Promise<void> {
  checkOptions(options, END_NAMES);
  return outboxOf(LeanStream.streamCore(stream)).sendLast(undefined, undefined, options.trailers);
}

/** Sends this side's headers ahead of the first value, as `sendHeaders` of a stream of `rxmux` does (S4). */
export function sendHeaders(stream: LeanStream, headers?: MetadataInput): void {
  outboxOf(LeanStream.streamCore(stream)).sendHeaders(headers);
}

/** Returns a signal that aborts when a stream ends, however it ends, as `signal` of a stream of `rxmux`. */
export function signalOf(stream: LeanStream): AbortSignal {
  return extrasOf(LeanStream.streamCore(stream)).signal;
}

/** Resolves with the cause of a stream's end, as `closed` of a stream of `rxmux`. Never rejects. */
export function closed(stream: LeanStream): Promise<CloseCause> {
  return extrasOf(LeanStream.streamCore(stream)).closed;
}

/**
 * Reads one payload of a stream at a time, as `for await` over a stream of `rxmux` does. Waiting payloads hold the sender back.
 *
 * @example
 * ```ts
 * for await (const tick of iterate(peer.open<number>({ op: 'ticks' }, { end: true }))) console.log(tick);
 * // 0
 * // 1
 * ```
 */
export function iterate<In>(stream: LeanStream<In>): AsyncIterableIterator<In> {
  return new StreamIterator<In>(LeanStream.streamCore(stream));
}
