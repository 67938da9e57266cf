import type { Observable, ObservableInput } from 'rxjs';
import type { Peer } from '../peer/peer.js';
import { checkValue } from '../peer/stream/check-value.js';
import { LeanStream } from '../peer/stream/lean-stream.js';
import { END_NAMES, REPLY_NAMES, SEND_NAMES } from '../peer/stream/send-options.js';
import type { EndOptions, ReplyOptions, SendOptions } from '../peer/stream/send-options.js';
import type { StreamCore } from '../peer/stream/stream-core.js';
import { extrasOf } from '../peer/stream/stream-extras.js';
import type { CloseCause } from '../session/base/close-cause.js';
import { checkOptions } from '../util/check.js';
import type { Metadata, MetadataInput } from '../wire/frame.js';
import { sendAll } from './feed.js';
import type { FeedOptions } from './feed.js';
import { StreamIterator } from './iterator.js';
import { outboxOf } from './sending.js';

/**
 * One stream of a peer. It is an Observable and an async iterable of the received payloads, and has the methods that send. It is not
 * thenable, so `switchMap(() => stream)` works as for any Observable, and an async function can return it.
 *
 * Payloads that come before the first subscriber wait for it, counted in bytes. Later subscribers share the remaining payloads. A `for await`
 * loop takes one payload at each step, and waiting payloads hold the sender back (`pauseBytes`). A subscriber receives each payload as it
 * comes. Payloads that a subscriber buffers itself do not hold the sender back.
 *
 * When the last subscriber leaves a stream that this side opened, the stream is reset with CANCEL. On a stream that the remote opened, only
 * the reading stops. Payloads that come without a reader are then dropped. A second reader after the first receives only payloads that come
 * while it reads. To read one payload now and more later, keep one iterator: `const it = stream[Symbol.asyncIterator]()`.
 *
 * @typeParam In the type of received payloads
 * @typeParam Out the type of sent payloads
 *
 * @example
 * ```ts
 * const stream = peer.open<number>({ op: 'count' }, { end: true });
 * stream.pipe(take(3)).subscribe(console.log);   // 1, 2, 3, and then the server's producer is cancelled
 * ```
 */
export class Stream<In = unknown, Out = unknown> extends LeanStream<In> implements AsyncIterable<In> {
  /** @internal */
  static override around(streamCore: StreamCore): Stream {
    return new this(streamCore);
  }

  /** The peer of the stream. */
  get peer(): Peer {
    return LeanStream.streamCore(this).host.peer as Peer;
  }

  /** Aborts when the stream ends, however it ends. Its reason is the error that ended the stream, if any. */
  get signal(): AbortSignal {
    return extrasOf(LeanStream.streamCore(this)).signal;
  }

  /** Emits {@link replyHeaders} when they come, and replays them to late subscribers. Completes without a value if the stream ends first. */
  get replyHeaders$(): Observable<Readonly<Metadata>> {
    return extrasOf(LeanStream.streamCore(this)).replyHeaders$;
  }

  /** Resolves with the cause of the stream's end; never rejects. */
  get closed(): Promise<CloseCause> {
    return extrasOf(LeanStream.streamCore(this)).closed;
  }

  /**
   * Sends this side's headers ahead of the first value, on a stream that the remote opened (S4). Does nothing if neither the call nor an
   * interceptor has headers. Also does nothing after this side's first frame, or on a stream that this side opened.
   *
   * @throws TypeError for headers that are not a plain object or that the codec cannot represent; ProtocolError for headers that
   *   do not fit a frame; errors of a reply-headers interceptor
   *
   * @example
   * ```ts
   * stream.sendHeaders({ total: 1_200 });
   * // at the opener, ahead of any value: stream.replyHeaders is { total: 1200 }
   * ```
   */
  sendHeaders(headers?: MetadataInput): void {
    outboxOf(LeanStream.streamCore(this)).sendHeaders(headers);
  }

  /**
   * Sends one value.
   *
   * @returns a promise that resolves once the stream's queue is below 256 KiB and the queues of all streams are below
   *   `sendHighWaterBytes`. In the common case it resolves at once. It rejects if the stream can take no value any more:
   *
   *   - with the error that ended the stream
   *   - with a ProtocolError after this side's end
   *   - with a CancelledError while the peer closes
   *   - with a QueueOverflowError if too many bytes are queued (`maxUnsentBytes`; without a connection `maxQueuedBytes`); this error
   *     ends the stream
   *
   *   The rejection need not be handled.
   * @throws TypeError for `undefined` and `ABSENT`, for a value the codec cannot represent and for headers that come too late;
   *   ProtocolError for headers that do not fit a frame; errors of a reply-headers interceptor
   *
   * @example
   * ```ts
   * for (const row of rows) await stream.send(row);   // no faster than the socket takes them
   * ```
   */
  send(value: Out, options: SendOptions = {}): Promise<void> {
    checkValue(value);
    checkOptions(options, SEND_NAMES);
    return outboxOf(LeanStream.streamCore(this)).send(value, options.headers);
  }

  /**
   * Sends the values of any Observable, promise, iterable, async iterable or ReadableStream, and then the end. It pulls iterables and streams
   * as the queue drains; other Observables push.
   *
   * If the stream ends before its input, it cancels and unlocks a ReadableStream, and destroys a stream of Node. The HTTP request that a
   * server answers, though, only ends at its next chunk. An async generator only ends at its next value, because no generator can be stopped
   * while it waits. A generator that waits for long should listen to {@link signal}, or be an Observable.
   *
   * @param options `end: false` leaves this side of the stream open after the last value; `overflow` decides about a value pushed
   *   while the queue is full
   * @returns a promise that resolves once the stream has accepted all values. It also resolves if the remote resets with NO_ERROR
   *   because it needs no more. It rejects:
   *
   *   - with the input's error, which has reset the stream (for `undefined` and `null`, with that reset as a ResetError)
   *   - with the error that ended the stream
   *   - with a ProtocolError if this side was ended before the input, as by a handler that did not return this promise; with
   *     `end: false` the promise resolves instead
   *
   *   The rejection need not be handled.
   * @throws TypeError for an unknown `overflow`
   *
   * @example
   * ```ts
   * // once 256 KiB wait and the socket is full, only the newest price; for few and new ones from the first on, see withCredit
   * peer.onStream((_, stream) => stream.sendAll(prices$, { overflow: 'latest' }));
   * ```
   */
  sendAll(input: ObservableInput<Out> | Blob, options: FeedOptions = {}): Promise<void> {
    return sendAll(LeanStream.streamCore(this), input, options);
  }

  /**
   * Sets the trailers, which leave once with this side's end. `reply`, `end`, `sendAll` or a settled handler sends the end. The call that ends
   * this side calls a trailers function; its `null` means none. A later call of `setTrailers` replaces the trailers. Trailers of `reply` or
   * `end` take precedence. After the end the call does nothing.
   *
   * Never throws. Trailers that cannot be sent, or a function that throws, make `reply` and `end` throw. Elsewhere they reset the stream, like
   * a handler that throws.
   *
   * @example
   * ```ts
   * stream.setTrailers({ rows: 2 });
   * await stream.sendAll(['a', 'b']);
   * // at the opener, after 'b': stream.trailers is { rows: 2 }
   * ```
   */
  setTrailers(trailers: MetadataInput | (() => MetadataInput | null)): void {
    outboxOf(LeanStream.streamCore(this)).setTrailers(trailers);
  }

  /**
   * Sends one last value and the end. Without a value, or with `undefined`, it sends no payload; `null` is a payload.
   *
   * @returns a promise like the promise of {@link send}; after the end the value is lost, with a ProtocolError and one warning.
   * @throws TypeError for a value or metadata that the codec cannot represent and for headers that come too late; ProtocolError
   *   for headers or trailers that do not fit a frame; errors of a reply-headers interceptor or a function of `setTrailers`
   *
   * @example
   * ```ts
   * peer.onStream((name, stream) => stream.reply(`hello ${name}`, { trailers: { rows: 1 } }));
   * // at the remote: await peer.request('you') returns 'hello you'
   * ```
   */
  reply(value?: Out, options: ReplyOptions = {}): Promise<void> {
    checkOptions(options, REPLY_NAMES);
    return outboxOf(LeanStream.streamCore(this)).sendLast(value, options.headers, options.trailers);
  }

  /**
   * Ends this side of the stream without a value. The remote's side may go on (S2).
   *
   * @returns a promise like the promise of {@link reply}
   * @throws the same as {@link reply}, for trailers
   *
   * @example
   * ```ts
   * await stream.end({ trailers: { rows: 2 } });
   * // sends {"type":"data","stream":1,"end":true,"trailers":{"rows":2}}
   * ```
   */
  end(options: EndOptions = {}): Promise<void> {
    checkOptions(options, END_NAMES);
    return outboxOf(LeanStream.streamCore(this)).sendLast(undefined, undefined, options.trailers);
  }

  /** Reads one payload at a time. A `break` leaves the stream, like the last unsubscribe. */
  [Symbol.asyncIterator](): AsyncIterableIterator<In> {
    return new StreamIterator<In>(LeanStream.streamCore(this));
  }
}
