import type { Observable } from 'rxjs';
import { optionError } from '../../wire/check.js';
import { checkOptions } from '../../util/check.js';
import { serving } from '../answers.js';
import { onClose as closeHook, onFrame as frameHook, onOpen as openHook } from '../hooks.js';
import type { CloseHandler, FrameObserver, OpenInterceptor, Remove } from '../hooks.js';
import { INPUT_NAMES } from '../calls/call-options.js';
import type { InputOptions, OpenOptions } from '../calls/call-options.js';
import { fedCall } from '../calls/fed-call.js';
import { ping as pingOf } from '../calls/ping.js';
import type { PeerCore } from '../core.js';
import { statsOf } from '../stats.js';
import type { PeerStats } from '../stats.js';
import type { LeanStream } from '../stream/lean-stream.js';
import { LeanPeer } from './lean-peer.js';
import type { LeanOptions } from './lean-peer.js';

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
