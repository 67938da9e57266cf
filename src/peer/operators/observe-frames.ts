import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkFunction } from '../../wire/check.js';
import type { FrameObserver } from '../hooks.js';
import type { Peer } from '../peer.js';
import { hook } from './hooks.js';

/**
 * Calls `observer` with every frame of each peer of the source. Only unsubscribing removes the observer.
 *
 * @throws TypeError unless `observer` is a function
 *
 * @example
 * ```ts
 * server.peers$.pipe(observeFrames((direction, frame) => { console.log(direction, frame.type); })).subscribe();
 * // rx open
 * // tx data
 * ```
 */
export function observeFrames(observer: FrameObserver): MonoTypeOperatorFunction<Peer> {
  checkFunction('observeFrames', observer);
  return hook((peer) => peer.onFrame(observer));
}
