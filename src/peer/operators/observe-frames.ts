import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkFunction } from '../../wire/check.js';
import type { FrameObserver } from '../base/hooks.js';
import type { Peer } from '../peer.js';
import { hook } from './hook.js';

/**
 * Sees every frame of each peer that passes. Removed on unsubscribe only.
 *
 * @throws TypeError for what is no function
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
