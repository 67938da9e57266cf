import { Observable } from 'rxjs';
import type { MonoTypeOperatorFunction, OperatorFunction, Subscriber } from 'rxjs';
import { checkedCodec } from '../wire/codec.js';
import type { Codec } from '../wire/codec.js';
import { MAX_FRAME_BYTES, slicerToSend } from '../wire/fragment.js';
import type { Frame } from '../wire/frame.js';
import type { Slicer } from '../wire/slicer.js';
import { Relay } from '../rx/relay.js';

/** Decides whose slice goes out next, and when. Slices are cut as they are asked for. */
export interface SliceQueue<F extends Frame = Frame> {
  /** Called on subscription: `cut` gives a frame's slices, `null` when it fits as it is; `emit` sends one on its way. */
  start(cut: (frame: Frame) => Slicer | null, emit: (slice: Frame) => void): void;
  /** Takes one whole frame. */
  add(frame: F): void;
}

/**
 * Cuts each frame whose encoded form is larger than `cap` into fragments of at most `cap` bytes; other frames pass.
 *
 * Errors with a `ProtocolError` for a frame that cannot be cut: its headers, or its trailers, do not fit a message.
 *
 * @param cap bytes of one encoded message; default `MAX_FRAME_BYTES`, which is what the wire allows
 * @param queue the order and the pace of slices; by default each frame's slices leave at once and together. The
 *   output completes with the source, whatever such a queue still holds.
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
        (frame) => slicerToSend(frame, cap, codec),
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

/** Every frame's slices at once and together, until nobody wants more. */
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
