import { firstAtOrAfter } from './lane.js';
import type { Lane } from './lane.js';
import type { Marble } from './marble.js';
import type { Row } from './rows.js';

/** Where the keyboard stands. */
export interface Place {
  readonly lane: Lane;
  readonly marble: Marble;
}

/** The next or the last marble of the row that the filter shows, also across lanes that share the row. */
export function alongRow({ lane, marble }: Place, step: 1 | -1): Place | null {
  const lanes = lane.row?.lanes ?? [lane];
  const marbles = lanes.flatMap((each) => each.marbles).filter(({ matches }) => matches);
  const next = marbles[marbles.indexOf(marble) + step];
  return next === undefined ? null : { lane: next.lane, marble: next };
}

/** The nearest marble in the next row up or down that has one between two times. */
export function acrossRows(place: Place, rows: readonly Row[], step: 1 | -1, begin: number, end: number): Place | null {
  const from = rows.findIndex((row) => row === place.lane.row);
  for (let index = from + step; index >= 0 && index < rows.length; index += step) {
    const found = nearest(rows[index], place.marble.t, begin, end);
    if (found !== null) return found;
  }
  return null;
}

/** The marble of a row that is nearest to a time, between two times, under the filter. */
export function nearest(row: Row | undefined, t: number, begin: number, end: number): Place | null {
  let best: Marble | null = null;
  for (const lane of row?.between(begin, end) ?? [])
    for (const marble of between(lane, begin, end))
      if (marble.matches && (best === null || Math.abs(marble.t - t) < Math.abs(best.t - t))) best = marble;
  return best === null ? null : { lane: best.lane, marble: best };
}

/** The marbles of a lane between two times. */
export function between(lane: Lane, begin: number, end: number): readonly Marble[] {
  return lane.marbles.slice(firstAtOrAfter(lane.marbles, begin), firstAtOrAfter(lane.marbles, end));
}
