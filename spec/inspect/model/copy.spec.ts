import { describe, expect, it } from '@jest/globals';
import type { Lane } from '../../../examples/inspector/model/lane.js';
import { asCommand, asTest } from '../../../examples/inspector/model/copy.js';
import type { InspectorLine } from '../../../src/inspect.js';
import { line, request, timelineOf } from './lines.js';

const URL = 'ws://127.0.0.1:8080';

function laneOf(...lines: readonly InspectorLine[]): Lane {
  const lane = timelineOf(...lines).lanes[1];
  if (lane === undefined) throw new Error('expected a lane');
  return lane;
}

describe('copying a lane as a command', () => {
  it('A request becomes a call', () => {
    expect(asCommand(laneOf(...request(0, 1, 5)), URL)).toBe(`npx rxmux call ${URL} '{"op":"sum"}'`);
  });

  it('Quotes and headers pass a shell', () => {
    const open = { type: 'open', stream: 1, end: true, payload: "it's", headers: { user: 'a b' } };
    expect(asCommand(laneOf(line(0, '>', open)), URL)).toBe(`npx rxmux push -H 'user: a b' ${URL} '"it'\\''s"'`);
  });

  it('Several answers, or a cancel, become a stream', () => {
    const data = { type: 'data', stream: 1, payload: 1 };
    const lane = laneOf(line(0, '>', { type: 'open', stream: 1 }), line(1, '<', data), line(2, '<', data));
    expect(asCommand(lane, URL)).toBe(`npx rxmux stream ${URL}`);
  });

  it('A fragment leaves the payload to its user', () => {
    const lane = laneOf(line(0, '>', { type: 'open', stream: 1, fragment: '"ab', more: true }), line(1, '<', { type: 'data', stream: 1 }));
    expect(asCommand(lane, URL)).toBe(`npx rxmux call ${URL} 'PAYLOAD'`);
  });
});

describe('copying a lane as a test', () => {
  it('The rows have a character a ms, and their columns stay aligned', () => {
    const data = { type: 'data', stream: 1, payload: 1 };
    const lane = laneOf(
      line(100, '>', { type: 'open', stream: 1 }),
      line(103, '<', data),
      line(103, '<', data),
      line(108, '>', { type: 'reset', stream: 1, code: 8 }),
    );
    const rows = [...asTest(lane).matchAll(/= '\s+(\S+)'/g)].map(([, row]) => row);
    expect(rows).toEqual(['o-------r', '---(dd)--']);
  });
});
