import { describe, expect, it } from '@jest/globals';
import { drawMarble, radiusOf } from '../../../examples/inspector/draw/marks.js';
import { marbleOf } from '../model/lines.js';
import { recordingContext, THEME } from './recording-context.js';

type Frame = Parameters<typeof marbleOf>[1];

function drawnOf(frame: Frame, { isAbove = true, matches = true, b = 50 } = {}): readonly string[] {
  const { context, drawn } = recordingContext();
  const marble = marbleOf('>', frame, { b });
  marble.matches = matches;
  drawMarble(context, THEME, marble, 100, 40, isAbove);
  return drawn;
}

describe('the marks of frames', () => {
  it.each<[name: string, frame: Frame, drawn: readonly string[]]>([
    ['an open', { type: 'open', stream: 1, payload: 1 }, ['disc open 100,32 4.5']],
    ['data', { type: 'data', stream: 1, payload: 1 }, ['disc data 100,32 3.2']],
    ['a fragment', { type: 'data', stream: 1, fragment: 'a', more: true }, ['disc fragment 100,32 2.5']],
    ['a reset', { type: 'reset', stream: 1, code: 8 }, ['lines reset 96.2,28.2 103.8,35.8 103.8,28.2 96.2,35.8']],
    ['the end alone', { type: 'data', stream: 1, end: true }, ['rect end 99,29 2x11']],
    ['data with the end', { type: 'data', stream: 1, payload: 1, end: true }, ['disc data 100,32 3.2', 'rect end 105.2,29 2x11']],
    ['a ping', { type: 'ping', nonce: 'a' }, ['disc ping 100,32 2.5']],
    ['a pong', { type: 'pong', nonce: 'a' }, ['disc ping 100,32 2.5']],
    ['a goaway', { type: 'goaway', last_stream: 1 }, ['disc wall 100,32 3.2']],
    ['an unknown type', { type: 'later' }, ['disc tick 100,32 3.2']],
    ['a message that does not decode', null, ['disc tick 100,32 3.2']],
  ])('The mark of %s has its colour and its shape', (_, frame, drawn) => {
    expect(drawnOf(frame)).toEqual(drawn);
  });

  it('A received frame is drawn below the line', () => {
    expect(drawnOf({ type: 'data', stream: 1, end: true, payload: 1 }, { isAbove: false })).toEqual([
      'disc data 100,48 3.2',
      'rect end 105.2,40 2x11',
    ]);
  });

  it('A frame that the filter hides is faded', () => {
    expect(drawnOf({ type: 'open', stream: 1, payload: 1 }, { matches: false })).toEqual(['disc open 100,32 4.5 at 0.16']);
  });

  it('A larger frame has a larger marble, up to a bound', () => {
    const radii = [50, 500, 5_000, 50_000, 5e9].map((b) => radiusOf(marbleOf('>', { type: 'data', stream: 1, payload: 1 }, { b })));
    expect(radii.map((radius) => Number(radius.toFixed(1)))).toEqual([3.2, 4.2, 5.2, 6, 6]);
  });
});
