import { Lane } from '../../../examples/inspector/model/lane.js';
import { Marble } from '../../../examples/inspector/model/marble.js';
import type { InspectorLine } from '../../../src/inspect.js';
import { Timeline } from '../../../examples/inspector/model/timeline.js';

type Extra = Partial<Pick<InspectorLine, 'c' | 'n' | 'b'>>;

/** A line of connection 1: `line(20, '>', { type: 'open', stream: 1 })`. */
export function line(t: number, d: InspectorLine['d'], f: InspectorLine['f'], extra: Extra = {}): InspectorLine {
  return { v: 1, t, c: 1, d, f, ...extra };
}

/** The lines of a request and its answer. */
export function request(t: number, stream: number, answeredAt: number, extra: Extra = {}): readonly InspectorLine[] {
  return [
    line(t, '>', { type: 'open', stream, end: true, payload: { op: 'sum' } }, extra),
    line(answeredAt, '<', { type: 'data', stream, end: true, payload: 3 }),
  ];
}

/** A timeline with these lines. */
export function timelineOf(...lines: readonly InspectorLine[]): Timeline {
  const timeline = new Timeline();
  for (const each of lines) timeline.add(each);
  return timeline;
}

/** One marble on a lane with a name. */
export function marbleOf(d: InspectorLine['d'], f: InspectorLine['f'], { n = '', ...extra }: Extra = {}): Marble {
  const lane = new Lane(extra.c ?? 1, typeof f?.['stream'] === 'number' ? f['stream'] : null, 0);
  lane.name = n;
  return new Marble(line(5, d, f, extra), lane);
}
