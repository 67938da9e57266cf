import { describe, expect, it } from '@jest/globals';
import { DELAY_MS, Diagram } from '../../../examples/inspector/model/diagram.js';
import { Timeline } from '../../../examples/inspector/model/timeline.js';
import type { InspectedPeer } from '../../../src/inspect.js';
import { line, request } from './lines.js';

const PEER: InspectedPeer = { c: 1, name: 'Peer 1', state: 'open', isDialer: true, reconnects: 0, rttMs: 14, bufferedAmount: 500 };

describe('the diagram', () => {
  it('The present follows the clock of the feed, a little behind it', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 100, lines: [], dropped: 0, peers: [] }, 5_100);
    expect(diagram.now(6_100)).toBe(1_100 - DELAY_MS);
    diagram.receive({ at: 200, lines: [], dropped: 0, peers: [] }, 5_190);
    expect(diagram.now(6_100)).toBe(1_110 - DELAY_MS);
  });

  it('A batch adds lanes, sums and the names of connections', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 300, lines: request(210, 1, 230, { b: 60 }), dropped: 2, peers: [PEER] }, 300);
    expect(diagram.rows.map(({ lanes }) => lanes[0]?.title)).toEqual(['Peer 1', '#1']);
    expect(diagram.totals.all()).toEqual([{ at: 0, sent: 60, received: 1, frames: 2, resets: 0, queue: 500, rtt: 14 }]);
    expect(diagram.dropped).toBe(2);
  });

  it('A peer that is gone ends its lanes', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 50, lines: [line(40, '>', { type: 'open', stream: 1 })], dropped: 0, peers: [PEER] }, 50);
    diagram.receive({ at: 100, lines: [], dropped: 0, peers: [] }, 100);
    expect(diagram.timeline.lanes[1]).toMatchObject({ end: 'lost', endedAt: 100 });
  });

  it('A line that comes after its time was drawn raises the version', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 1_000, lines: [line(990, '>', { type: 'open', stream: 1 })], dropped: 0, peers: [] }, 1_000);
    expect(diagram.version).toBe(0);
    diagram.receive({ at: 1_050, lines: [line(500, '>', { type: 'data', stream: 1 })], dropped: 0, peers: [] }, 1_050);
    expect(diagram.version).toBe(1);
  });

  it('A file is shown as a whole', () => {
    const diagram = new Diagram();
    diagram.load([...request(1_000, 1, 1_400), line(3_000, '>', { type: 'ping', nonce: 'a' })]);
    const end = diagram.view.endAt(diagram.now(0));
    expect([end - diagram.view.span, end >= 3_000]).toEqual([1_000, true]);
  });

  it('A file that is too long begins with the first marble that is kept', () => {
    const diagram = new Diagram(new Timeline({ ageMs: 1_000, marbles: 10, contentBytes: 1e6 }));
    diagram.load([line(0, '>', { type: 'open', stream: 1 }), line(9_000, '>', { type: 'open', stream: 3 })]);
    expect(diagram.view.endAt(0) - diagram.view.span).toBe(8_000);
  });

  it('A second file forgets the time of the first', () => {
    const diagram = new Diagram();
    diagram.load(request(90_000, 1, 91_000));
    diagram.clear();
    diagram.load(request(1_000, 1, 1_400));
    expect(diagram.now(0)).toBe(1_400);
  });

  it('Rows that show nothing fold away', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 5_000, lines: [...request(0, 1, 10), ...request(4_000, 3, 4_100)], dropped: 0, peers: [] }, 5_000);
    diagram.fold(false);
    expect(diagram.seenRows(3_000, 5_000).map((row) => row.newest?.title)).toEqual(['connection 1', '#3']);
    diagram.filterBy('id:1');
    expect(diagram.seenRows(0, 5_000).map((row) => row.newest?.title)).toEqual(['connection 1', '#1']);
  });
});
