import { filter } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Frame } from '../wire/frame.js';
import type { WithFrame } from './select.js';

/**
 * Keeps the frame events of one stream.
 *
 * @example
 * ```ts
 * peer.frames$.pipe(ofStream(1)).subscribe(({ direction, frame }) => console.log(direction, frame.type));
 * // tx open
 * // rx data
 * ```
 */
export function ofStream(
  id: number,
): <E extends WithFrame>(source: Observable<E>) => Observable<E & { readonly frame: Frame & { readonly stream: number } }> {
  return <E extends WithFrame>(source: Observable<E>) =>
    source.pipe(filter((event): event is E & { readonly frame: Frame & { readonly stream: number } } => event.frame.stream === id));
}
