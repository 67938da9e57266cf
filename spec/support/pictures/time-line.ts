import type { Lane } from './lanes.js';

/** The width of 1 ms, and of a letter within a moment. */
const MS = 26;
export const LETTER = 23;
/** A longer wait is cut short. */
const LONGEST_WAIT = 8;
const CUT = 3.2 * MS;

/** A wait that is drawn shorter than it is. */
export interface Cut {
  readonly x: number;
  readonly ms: number;
}

/** Where moments lie from left to right. */
export interface TimeLine {
  readonly x: (ms: number) => number;
  readonly cuts: readonly Cut[];
  /** The right end. */
  readonly end: number;
}

/** Places the moments of some lanes, so that no letters of a lane overlap. */
export function timeLine(lanes: readonly Lane[], left: number): TimeLine {
  const widths = new Map<number, number>([[0, 1]]);
  for (const { lives, moments, subscriptions } of lanes) {
    for (const { from, to } of [...lives, ...(subscriptions ?? [])])
      for (const at of [from, to]) if (Number.isFinite(at)) widths.set(at, Math.max(widths.get(at) ?? 1, 1));
    for (const { at, letters, end } of moments) widths.set(at, Math.max(widths.get(at) ?? 1, letters.length + (end === null ? 0 : 0.5)));
  }
  const places = new Map<number, number>();
  const cuts: Cut[] = [];
  let x = left;
  let last = { at: 0, width: 1 };
  for (const at of [...widths.keys()].sort((one, other) => one - other)) {
    const wait = at - last.at;
    const drawn = wait > LONGEST_WAIT ? CUT : wait * MS;
    const least = wait === 0 ? 0 : (last.width - 1) * LETTER + MS;
    const step = Math.max(drawn, least);
    if (wait > LONGEST_WAIT) cuts.push({ x: x + (last.width - 1) * LETTER + (step - (last.width - 1) * LETTER) / 2, ms: wait });
    x += step;
    places.set(at, x);
    last = { at, width: widths.get(at) ?? 1 };
  }
  const end = x + (last.width - 1) * LETTER + 1.6 * MS;
  return { x: (ms) => places.get(ms) ?? end, cuts, end };
}
