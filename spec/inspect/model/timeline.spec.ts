import { describe, expect, it } from '@jest/globals';
import { laneState } from '../../../examples/inspector/model/describe.js';
import { Omitted } from '../../../src/inspect.js';
import { Timeline } from '../../../examples/inspector/model/timeline.js';
import { line, request, timelineOf } from './lines.js';

describe('lanes of a timeline', () => {
  it('A stream has a lane with its name, below the lane of its connection', () => {
    const { lanes } = timelineOf(...request(10, 1, 30, { n: 'sum' }));
    expect(lanes.map(({ title }) => title)).toEqual(['connection 1', '#1 sum']);
  });

  it('A lane ends once both sides have ended it', () => {
    const timeline = timelineOf(line(10, '>', { type: 'open', stream: 1, end: true }));
    const [, lane] = timeline.lanes;
    expect(lane).toMatchObject({ end: null, halfEndedAt: 10 });
    timeline.add(line(30, '<', { type: 'data', stream: 1, end: true }));
    expect(lane).toMatchObject({ end: 'ended', endedAt: 30 });
  });

  it('A reset ends a lane with its code', () => {
    const { lanes } = timelineOf(line(0, '>', { type: 'open', stream: 1 }), line(9, '<', { type: 'reset', stream: 1, code: 8 }));
    expect(lanes[1]).toMatchObject({ end: 'reset', code: 8, endedAt: 9 });
    expect(lanes[1] === undefined ? '' : laneState(lanes[1])).toBe('reset with CANCEL');
  });

  it('A late frame stays on the lane of its ended stream', () => {
    const { lanes } = timelineOf(...request(0, 1, 5), line(9, '<', { type: 'data', stream: 1 }));
    expect(lanes[1]?.marbles).toHaveLength(3);
    expect(lanes[1]?.endedAt).toBe(5);
  });

  it('The last fragment alone ends a side', () => {
    const timeline = timelineOf(line(0, '>', { type: 'open', stream: 1, fragment: 'a', more: true }));
    const last = timeline.add(line(1, '>', { type: 'data', stream: 1, fragment: 'b', end: true }));
    expect(last).toMatchObject({ kind: 'fragment', ends: true });
    expect(timeline.lanes[1]?.halfEndedAt).toBe(1);
  });

  it('A lost connection ends its lanes and no others', () => {
    const timeline = timelineOf(line(0, '>', { type: 'open', stream: 1 }), line(0, '>', { type: 'open', stream: 1 }, { c: 2 }));
    timeline.lost(1, 20);
    expect(timeline.lanes.filter(({ stream }) => stream === 1).map(({ c, end }) => [c, end])).toEqual([
      [1, 'lost'],
      [2, null],
    ]);
  });

  it('A pong finds the ping of the other side with its nonce', () => {
    const { lanes } = timelineOf(
      line(10, '>', { type: 'ping', nonce: 'a' }),
      line(12, '<', { type: 'ping', nonce: 'a' }),
      line(24, '<', { type: 'pong', nonce: 'a' }),
    );
    expect(lanes[0]?.marbles.map(({ roundTrip }) => roundTrip)).toEqual([14, null, 14]);
  });
});

describe('what a timeline keeps', () => {
  it('A timeline forgets marbles that are too old, and lanes that have ended', () => {
    const timeline = new Timeline({ ageMs: 1_000, marbles: 100, contentBytes: 1e6 });
    for (const each of [...request(0, 1, 5), line(6, '>', { type: 'open', stream: 3 }), line(4_000, '>', { type: 'ping', nonce: 'a' })])
      timeline.add(each);
    expect(timeline.lanes.map(({ title, marbles }) => [title, marbles.length])).toEqual([
      ['connection 1', 1],
      ['#3', 0],
    ]);
  });

  it('A timeline forgets the oldest marbles beyond its bound, and counts them', () => {
    const timeline = new Timeline({ ageMs: 1e6, marbles: 10, contentBytes: 1e6 });
    for (let n = 0; n < 30; n++) timeline.add(line(n, '>', { type: 'data', stream: 1 }));
    expect(timeline.count).toBeLessThanOrEqual(11);
    expect(timeline.forgotten).toBe(30 - timeline.count);
    expect(timeline.lanes[1]?.marbles.at(-1)?.t).toBe(29);
    expect(timeline.oldest).toBe(timeline.lanes[1]?.marbles[0]?.t);
  });

  it('A timeline forgets the oldest marbles beyond its bytes of payloads', () => {
    const timeline = new Timeline({ ageMs: 1e6, marbles: 100, contentBytes: 1_000 });
    for (let n = 0; n < 30; n++) timeline.add(line(n, '>', { type: 'data', stream: 1, payload: 'text' }, { b: 100 }));
    for (let n = 30; n < 60; n++) timeline.add(line(n, '>', { type: 'data', stream: 1, payload: new Omitted(100) }, { b: 100 }));
    const withContent = timeline.lanes[1]?.marbles.filter(({ contentBytes }) => contentBytes > 0) ?? [];
    expect(withContent.length).toBeLessThanOrEqual(11);
    expect(timeline.count).toBe(withContent.length + 30);
    expect(timeline.forgotten).toBe(60 - timeline.count);
  });

  it('A timeline forgets a lost connection once its marbles are too old', () => {
    const timeline = new Timeline({ ageMs: 1_000, marbles: 100, contentBytes: 1e6 });
    for (const each of request(0, 1, 5)) timeline.add(each);
    timeline.lost(1, 10);
    timeline.add(line(4_000, '>', { type: 'open', stream: 1 }, { c: 2 }));
    expect(timeline.lanes.map(({ c }) => c)).toEqual([2, 2]);
  });

  it('An open stream is forgotten if its end may be among dropped lines', () => {
    const timeline = new Timeline({ ageMs: 1_000, marbles: 100, contentBytes: 1e6 });
    timeline.add(line(0, '>', { type: 'open', stream: 1 }));
    timeline.doubt();
    timeline.add(line(5, '>', { type: 'open', stream: 3 }));
    expect(timeline.lanes.slice(1).map(laneState)).toEqual(['open, or its end was left out', 'open']);
    timeline.add(line(4_000, '>', { type: 'open', stream: 5 }));
    expect(timeline.lanes.map(({ stream }) => stream)).toEqual([null, 3, 5]);
  });
});
