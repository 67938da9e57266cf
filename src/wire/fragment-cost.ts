import { isNearer } from './codec.js';
import type { Codec, Message } from './codec.js';
import type { Frame } from './frame.js';
import { edgeBefore } from './length.js';

/** Returns the bytes that the slice between two positions of an encoded payload costs: see `Codec.fragmentCost`. */
export type FragmentCost = (from: number, to: number) => number;

/** Whether a codec has a cost of fragments and writes fragments itself. A subclass or a wrapper may write something else. */
export function hasFragmentCost(codec: Codec): codec is Codec & Required<Pick<Codec, 'fragmentCost'>> {
  return codec.fragmentCost !== undefined && isNearer(codec, 'fragmentCost', 'encode') && isNearer(codec, 'fragmentCost', 'encodeWith');
}

/** Returns the cost of slices of a payload; `null` for a codec without `fragmentCost`. */
export function fragmentCostOf(encoded: Message, codec: Codec): FragmentCost | null {
  return hasFragmentCost(codec) ? (from, to) => codec.fragmentCost(encoded, from, to) : null;
}

/** The longest slice that fits. */
export interface FragmentCut {
  /** The position at which it ends. */
  readonly end: number;
  /** Whether it is text in which each unit costs one byte: the codec writes it unchanged. */
  readonly plain: boolean;
  /** The slice, if several frames share it. */
  readonly fragment?: Message;
  /** Records that a fragment frame has the shared slice. */
  mark?(frame: Frame): void;
}

/** Keeps the slices of one payload for several frames. */
export interface SliceCache {
  /** Returns the slice from `from` that takes at most `budget` bytes. `cut` finds its end, if no frame has had this slice before. */
  slice(from: number, budget: number, cut: () => FragmentCut): FragmentCut;
}

/** Returns the longest slice from `from` that costs at most `budget` bytes. */
export function fragmentCut(encoded: Message, from: number, budget: number, cost: FragmentCost): FragmentCut {
  return typeof encoded === 'string' ? textCut(encoded, from, budget, cost) : bytesCut(encoded, from, budget, cost);
}

/** Records that the slice of a fragment frame is {@link FragmentCut.plain}: to check again would cost as much as sending the slice. */
export function markPlain(frame: Frame, codec: Codec): void {
  PLAIN.set(frame, codec);
}

/** Whether the slice of a frame is plain to the codec for which it was cut. */
export function isPlain(frame: Frame): boolean {
  return PLAIN.has(frame);
}

/** Whether `codec` writes the slice of a frame unchanged. */
export function isPlainTo(codec: Codec, frame: Frame): boolean {
  return PLAIN.get(frame) === codec;
}

// Costs of neighbours add up, so each part is measured once: whole pieces first, then half of the piece that does not fit, and so on.
function textCut(text: string, from: number, budget: number, cost: FragmentCost): FragmentCut {
  let end = from;
  let left = budget;
  for (let units = PIECE; units > 0 && end < text.length;) {
    // Each unit costs at least one byte.
    const to = edgeBefore(text, Math.min(end + Math.min(units, left), text.length));
    const bytes = to > end ? cost(end, to) : Infinity;
    if (bytes <= left) {
      left -= bytes;
      end = to;
    } else units >>= 1;
  }
  return { end, plain: budget - left === end - from };
}

// Each byte costs at least one byte. So a slice that is too long by n bytes fits once n of its bytes are cut off.
function bytesCut(encoded: ArrayBuffer, from: number, budget: number, cost: FragmentCost): FragmentCut {
  let end = from;
  let tooFar = Math.min(from + Math.max(budget, 0), encoded.byteLength) + 1;
  for (let at = tooFar - 1; tooFar - end > 1; at = Math.ceil((end + tooFar) / 2)) {
    const excess = cost(from, at) - budget;
    if (excess > 0) tooFar = at;
    end = Math.max(end, at - Math.max(excess, 0));
  }
  return { end, plain: false };
}

const PLAIN = new WeakMap<Frame, Codec>();
const PIECE = 4_096;
