import { describe, expect, it } from '@jest/globals';
import { Diagram } from '../../../examples/inspector/model/diagram.js';
import { acrossRows, alongRow, nearest } from '../../../examples/inspector/model/walk.js';
import type { Place } from '../../../examples/inspector/model/walk.js';
import { line, request } from './lines.js';

function walked(): { readonly diagram: Diagram; readonly first: Place } {
  const diagram = new Diagram();
  const lines = [...request(0, 1, 10), line(4, '>', { type: 'open', stream: 3 }), ...request(1_000, 5, 1_040)];
  diagram.receive({ at: 2_000, lines, dropped: 0, peers: [] }, 2_000);
  const first = nearest(diagram.rows[1], 0, 0, 2_000);
  if (first === null) throw new Error('expected a marble');
  return { diagram, first };
}

describe('walking with the keyboard', () => {
  it('It goes along a row, from the marbles of one stream to the next stream', () => {
    const places: (Place | null)[] = [walked().first];
    for (let n = 0; n < 4; n++) places.push(places[n] == null ? null : alongRow(places[n] as Place, 1));
    expect(places.map((place) => place?.marble.t)).toEqual([0, 10, 1_000, 1_040, undefined]);
    expect(places[3] == null ? null : alongRow(places[3], -1)?.marble.t).toBe(1_000);
  });

  it('It goes to the nearest marble of another row, over rows without marbles', () => {
    const { diagram, first } = walked();
    const down = acrossRows(first, diagram.rows, 1, -1, 2_000);
    expect([down?.lane.title, down?.marble.t]).toEqual(['#3', 4]);
    expect(acrossRows(first, diagram.rows, -1, -1, 2_000)).toBeNull();
    expect(down === null ? null : acrossRows(down, diagram.rows, -1, -1, 2_000)?.marble.t).toBe(0);
  });

  it('It leaves out marbles that the filter hides', () => {
    const { diagram, first } = walked();
    diagram.filterBy('from:dialer');
    expect(alongRow(first, 1)?.marble.t).toBe(1_000);
  });
});
