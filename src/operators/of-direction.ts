import { filter } from 'rxjs';
import type { Observable } from 'rxjs';
import type { FrameDirection } from '../wire/frame.js';

/** A value with a direction, such as an event of `peer.frames$`. */
export interface WithDirection {
  /** `'tx'` sent, `'rx'` received. */
  readonly direction: FrameDirection;
}

/**
 * Keeps the frame events of one direction: `'tx'` sent, `'rx'` received.
 *
 * @example
 * ```ts
 * peer.frames$.pipe(ofDirection('rx'), ofType('ping')).subscribe(({ frame }) => console.log('pinged', frame.nonce));
 * ```
 */
export function ofDirection<D extends FrameDirection>(
  wanted: D,
): <E extends WithDirection>(source: Observable<E>) => Observable<E & { readonly direction: D }> {
  return <E extends WithDirection>(source: Observable<E>) =>
    source.pipe(filter((event): event is E & { readonly direction: D } => event.direction === wanted));
}
