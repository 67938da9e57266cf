import type { Observable, ObservableInput } from 'rxjs';
import { logger as shared } from '../../logger.js';
import type { Logger } from '../../logger.js';
import type { CloseCause } from '../../stream/end.js';
import { sendAll as feedAll } from '../../stream/feed.js';
import type { FeedOptions } from '../../stream/feed.js';
import { StreamIterator } from '../../stream/iterator.js';
import { END_NAMES, REPLY_NAMES, SEND_NAMES, outboxOf } from '../../stream/sending.js';
import { checkValue } from '../../stream/payload.js';
import type { EndOptions, ReplyOptions, SendOptions } from '../../stream/sending.js';
import { LeanStream } from '../../stream/stream.js';
import { extrasOf } from '../../stream/extras.js';
import { checkOptions, optionError } from '../../util/check.js';
import type { MetadataInput } from '../../wire/frame.js';
import { serving } from '../answers.js';
import { INPUT_NAMES, fedCall, ping as pingOf } from '../calls.js';
import type { InputOptions, OpenOptions } from '../calls.js';
import type { PeerCore } from '../core.js';
import { onClose as closeHook, onFrame as frameHook, onOpen as openHook } from '../hooks.js';
import type { CloseHandler, FrameObserver, OpenInterceptor, Remove } from '../hooks.js';
import { logPeers } from '../log.js';
import { statsOf } from '../stats.js';
import type { PeerStats } from '../stats.js';
import { LeanPeer } from './peer.js';
import type { LeanOptions } from './peer.js';

/** Answers a stream that the remote opened, as `StreamHandler` of `rxmux` does. Parameters may have narrower types. */
// Declared as a method, for the same reason as `StreamHandler`.
export type LeanHandler = { bivarianceHack(payload: unknown, stream: LeanStream): unknown }['bivarianceHack'];

/**
 * Sets the handler that answers streams of the remote, as `onStream` of a peer of `rxmux` does.
 *
 * @returns a function that removes it
 * @throws TypeError unless `handler` is a function
 *
 * @example
 * ```ts
 * onStream(peer, ({ n }: { n: number }, stream) => reply(stream, n * n));
 * // at the remote: await peer.request({ n: 12 }) returns 144
 * ```
 */
export function onStream(peer: LeanPeer, handler: LeanHandler): Remove {
  return serving(coreOf(peer)).setHandler(handler);
}

/**
 * Opens a stream for each subscription and sends an input on it, as `open$` of a peer of `rxmux` does with the option `input`.
 *
 * @throws TypeError for an unknown `overflow`
 *
 * @example
 * ```ts
 * openWith<string, string>(peer, { op: 'upper' }, { input: ['a', 'b'] }).subscribe(console.log);
 * // A
 * // B
 * ```
 */
export function openWith<In = unknown, Out = unknown>(
  peer: LeanPeer,
  payload: unknown,
  options: LeanOptions<In> & InputOptions<Out>,
): Observable<In> {
  coreOf(peer);
  checkOptions(options, INPUT_NAMES);
  return fedCall(LeanPeer.calls(peer), payload, options as OpenOptions & InputOptions) as Observable<In>;
}

/** As `onClose` of a peer of `rxmux`: adds a handler of the reason of each socket that ends, and of each dial that fails. */
export function onClose(peer: LeanPeer, handler: CloseHandler): Remove {
  return closeHook(coreOf(peer).ownHooks, handler);
}

/** Adds an observer that is called with every frame as it is on the wire, as `onFrame` of a peer of `rxmux`. */
export function onFrame(peer: LeanPeer, observer: FrameObserver): Remove {
  return frameHook(coreOf(peer).ownHooks, observer);
}

/** Adds an interceptor that may change the headers of every call, as `interceptOpen` of a peer of `rxmux`. */
export function onOpen(peer: LeanPeer, interceptor: OpenInterceptor): Remove {
  return openHook(coreOf(peer).ownHooks, 'onOpen', interceptor);
}

/** Resolves with the round trip of a ping (C1), in ms, as `ping` of a peer of `rxmux`. */
export function ping(peer: LeanPeer): Promise<number> {
  return pingOf(coreOf(peer));
}

/** Returns facts about a peer now, as `stats` of a peer of `rxmux`. */
export function stats(peer: LeanPeer): PeerStats {
  return statsOf(coreOf(peer));
}

/** @throws TypeError for anything but a peer of this copy of the package */
function coreOf(peer: LeanPeer): PeerCore {
  const core = peer instanceof LeanPeer ? LeanPeer.core(peer) : null;
  if (core === null) throw optionError('peer', 'a peer of this copy of rxmux/lean', peer);
  return core;
}

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

/**
 * The one logger of the library, as in `rxmux`. A page that does not import it carries no lines of the level `debug` for frames and sockets.
 *
 * @example
 * ```ts
 * logger.level = 'debug';   // one line a frame
 * ```
 */
export const logger: Logger = {
  get level() {
    return shared.level;
  },
  set level(level) {
    logPeers();
    shared.level = level;
  },
  isEnabledFor: (level) => shared.isEnabledFor(level),
  get debug() {
    return shared.debug;
  },
  set debug(debug) {
    shared.debug = debug;
  },
  get info() {
    return shared.info;
  },
  set info(info) {
    shared.info = info;
  },
  get warn() {
    return shared.warn;
  },
  set warn(warn) {
    shared.warn = warn;
  },
  get error() {
    return shared.error;
  },
  set error(error) {
    shared.error = error;
  },
};
