import { Observable } from 'rxjs';
import type { MonoTypeOperatorFunction, OperatorFunction, Subscriber } from 'rxjs';
import { Relay } from '../rx/pipeline.js';
import { checkedCodec } from '../wire/codec.js';
import type { Codec } from '../wire/codec.js';
import { MAX_FRAME_BYTES, checkCap, slicerToSend } from '../wire/fragment.js';
import type { Slicer } from '../wire/fragment.js';
import type { Frame } from '../wire/frame.js';

/** Decides which slice leaves next, and when. Slices are cut on request. */
export interface SliceQueue<F extends Frame = Frame> {
  /** Called on subscription. `cut` returns the slices of a frame, or `null` for a frame that fits. `emit` sends one slice. */
  start(cut: (frame: Frame) => Slicer | null, emit: (slice: Frame) => void): void;
  /** Takes one whole frame. */
  add(frame: F): void;
}

/**
 * Cuts each frame whose encoded form is larger than `cap` into fragments of at most `cap` bytes; other frames pass.
 *
 * Errors with a `ProtocolError` for a frame that cannot be cut because its headers or its trailers do not fit a message.
 *
 * A third argument, a {@link SliceQueue}, decides the order and the pace of slices. By default each frame's slices leave together at once.
 * The output completes with the source, even if such a queue still holds slices.
 *
 * @param cap bytes of one encoded message; default `MAX_FRAME_BYTES`, the limit of the wire
 *
 * @example
 * ```ts
 * of({ type: 'data', stream: 1, payload: 'x'.repeat(100_000) })
 *   .pipe(fragment(new JsonCodec()), map((slice) => slice.more))
 *   .subscribe(console.log);
 * // true
 * // false
 * ```
 */
export function fragment(codec: Codec, cap?: number): MonoTypeOperatorFunction<Frame>;
export function fragment<F extends Frame>(codec: Codec, cap: number, queue: SliceQueue<F>): OperatorFunction<F, Frame>;
export function fragment<F extends Frame>(codec: Codec, cap: number = MAX_FRAME_BYTES, queue?: SliceQueue<F>): OperatorFunction<F, Frame> {
  checkedCodec(codec);
  return (source) =>
    new Observable((subscriber) => {
      const slices = queue ?? atOnce(subscriber);
      slices.start(
        (frame) => {
          // Every frame fits a cap without an end.
          if (cap !== Infinity) checkCap(cap);
          return slicerToSend(frame, cap, codec);
        },
        (slice) => {
          subscriber.next(slice);
        },
      );
      return source.subscribe(new Queueing(slices, subscriber));
    });
}

class Queueing<F extends Frame> extends Relay<F> {
  constructor(
    private readonly queue: SliceQueue<F>,
    to: Subscriber<unknown>,
  ) {
    super(to);
  }

  protected take(frame: F): void {
    this.queue.add(frame);
  }
}

/** Emits each frame's slices together at once, until the subscriber unsubscribes. */
function atOnce(to: { readonly closed: boolean }): SliceQueue {
  let send: (frame: Frame) => void;
  return {
    start(cut, emit) {
      send = (frame) => {
        const slices = cut(frame);
        if (slices === null) emit(frame);
        else while (!slices.done && !to.closed) emit(slices.next());
      };
    },
    add(frame) {
      send(frame);
    },
  };
}
