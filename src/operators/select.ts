import { filter } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Frame, FrameDirection, FrameType } from '../wire/frame.js';

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
