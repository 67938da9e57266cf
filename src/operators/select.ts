import { filter } from 'rxjs';
import type { Observable } from 'rxjs';
import type { FrameType } from '../wire/frame-types.js';
import type { Frame } from '../wire/frame.js';

/** A value that carries a frame, such as an event of `peer.frames$`. */
export interface WithFrame {
  /** The frame. */
  readonly frame: Frame;
}

/**
 * Keeps the frame events of some types, and narrows their type in TypeScript.
 *
 * @example
 * ```ts
 * peer.frames$.pipe(ofType('reset')).subscribe(({ frame }) => console.log(frame.stream, frame.code));
 * // 5 8
 * ```
 */
export function ofType<K extends FrameType | (string & {})>(
  ...types: K[]
): <E extends WithFrame>(source: Observable<E>) => Observable<E & { readonly frame: Frame & { readonly type: K } }> {
  const wanted: ReadonlySet<string> = new Set(types);
  return <E extends WithFrame>(source: Observable<E>) =>
    source.pipe(filter((event): event is E & { readonly frame: Frame & { readonly type: K } } => wanted.has(event.frame.type)));
}
