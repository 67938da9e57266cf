import { describe, expect, it } from '@jest/globals';
import { ABSENT, fromMapping, ResetCode, toMapping, V1_FRAME_TYPES } from '../../src/index.js';
import { frameMarbles } from '../../src/testing.js';

describe('frameMarbles', () => {
  it('`frameMarbles` returns the letters of one stream', () => {
    expect(frameMarbles(7)).toEqual({
      o: { type: 'open', stream: 7 },
      d: { type: 'data', stream: 7, payload: 'd' },
      e: { type: 'data', stream: 7, end: true },
      r: { type: 'reset', stream: 7, code: ResetCode.CANCEL },
      p: { type: 'ping', nonce: 'n' },
      q: { type: 'pong', nonce: 'n' },
      g: { type: 'goaway', code: ResetCode.NO_ERROR, last_stream: 0 },
    });
  });

  it('`frameMarbles` returns letters of stream 1 by default', () => {
    expect(frameMarbles()).toEqual(frameMarbles(1));
  });

  it.each(Object.entries(frameMarbles()))('`frameMarbles` returns a frame of the wire for %s', (_, frame) => {
    expect(V1_FRAME_TYPES.has(frame.type)).toBe(true);
    expect(toMapping(fromMapping(toMapping(frame)))).toEqual(toMapping(frame));
  });

  it("`frameMarbles` adds the caller's letters, which are data of the stream by default", () => {
    const frames = frameMarbles(3, {
      x: { payload: 42 },
      n: { type: 'open', payload: null },
      s: { stream: 5, payload: ABSENT, end: true },
      c: { type: 'ping', stream: null },
    });
    expect(frames).toMatchObject({
      o: { type: 'open', stream: 3 },
      x: { type: 'data', stream: 3, payload: 42 },
      n: { type: 'open', stream: 3, payload: null },
      s: { type: 'data', stream: 5, payload: ABSENT, end: true },
      c: { type: 'ping', stream: null },
    });
  });

  it('A letter of the caller replaces a letter of `frameMarbles`', () => {
    expect(frameMarbles(1, { d: { payload: 'mine' } }).d).toEqual({ type: 'data', stream: 1, payload: 'mine' });
  });
});
