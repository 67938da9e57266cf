import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { encodedPartOf, Lane } from '../../src/session/lane.js';
import type { Cut } from '../../src/session/lane.js';
import { slicesOf } from '../../src/wire/fragment.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';

const CODEC = new JsonCodec();
const CAP = 128;
const cut: Cut = (frame) => slicesOf(frame, CAP, CODEC);
const uncut: Cut = () => null;

describe('Lane', () => {
  it.each([
    ['a frame that is only its envelope', {}, 64],
    ['a small payload, which still costs memory', { payload: 'x' }, 64],
    ['a payload', { payload: 'x'.repeat(98) }, 100],
    ['a payload in characters of several bytes', { payload: 'é'.repeat(49) }, 100],
  ])('counts %s', (_, fields: Partial<Frame>, bytes) => {
    const lane = new Lane(data(fields), null);
    expect(lane.bytes).toBe(bytes);
    expect(lane.append(data(fields))).toBe(bytes);
    expect(lane.bytes).toBe(2 * bytes);
  });

  it('gives whole frames in the order in which they were added, and counts down to 0', () => {
    const frames = [1, 2, 3].map((payload) => data({ payload: String(payload).repeat(98) }));
    const lane = laneOf(frames);
    const bytes = frames.map((frame) => {
      expect([lane.empty, lane.front]).toEqual([false, frame]);
      expect(lane.take(uncut)).toBe(frame);
      return lane.bytes;
    });
    expect(bytes).toEqual([200, 100, 0]);
    expect(lane.empty).toBe(true);
  });

  it('gives the slices of a frame one after another, never another frame between them', () => {
    const lane = laneOf([data({ payload: 'a'.repeat(300) }), data({ payload: 'b' })]);
    const slices = takeAllOf(lane);
    const fragments = slices.slice(0, -1);
    expect(fragments.length).toBeGreaterThan(2);
    expect(fragments.map(({ fragment }) => fragment).join('')).toBe(`"${'a'.repeat(300)}"`);
    expect(fragments.map(({ more }) => more)).toEqual(fragments.map((_, at) => at < fragments.length - 1));
    expect(slices.at(-1)?.payload).toBe('b');
    expect(lane.bytes).toBe(0);
  });

  it('charges less with each slice, never more than the frame was counted with', () => {
    const lane = laneOf([data({ payload: 'a'.repeat(300) })]);
    const counts = [lane.bytes];
    while (!lane.empty) {
      lane.take(cut);
      counts.push(lane.bytes);
    }
    expect(counts[0]).toBe(302);
    expect(counts.at(-1)).toBe(0);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(Math.min(...counts)).toBe(0);
  });

  it('charges no more than is left for slices smaller than the least charge', () => {
    const frame = data({ payload: 'a'.repeat(150) });
    const lane = laneOf([frame]);
    const counts: number[] = [];
    while (!lane.empty) {
      expect(lane.take((whole) => slicesOf(whole, 80, CODEC)).fragment?.slice(0)).not.toBe('');
      counts.push(lane.bytes);
    }
    expect(counts.slice(0, 4)).toEqual([152 - 64, 152 - 128, 0, 0]);
    expect(counts.at(-1)).toBe(0);
  });

  it('goes on with slices that were cut before', () => {
    const frame = data({ payload: 'a'.repeat(300) });
    const lane = new Lane(frame, slicesOf(frame, CAP, CODEC));
    const slice = lane.take(() => {
      throw new Error('cut again');
    });
    expect([slice.more, lane.front]).toEqual([true, frame]);
  });

  it('begins with an unsent open only until its first slice has left', () => {
    const lane = laneOf([outgoing({ type: 'open', stream: 1, payload: 'a'.repeat(300) })]);
    expect(lane.unopened).toBe(true);
    lane.take(cut);
    expect(lane.unopened).toBe(false);
    expect(laneOf([data({ payload: 1 })]).unopened).toBe(false);
  });

  it('gives everything back, a frame that is being cut whole', () => {
    const frames = [data({ payload: 'a'.repeat(300) }), data({ payload: 2 }), data({ payload: 3 })];
    const lane = laneOf(frames);
    lane.take(cut);
    expect(lane.takeAll()).toEqual(frames);
  });

  it('stays as it is when the frame at the front cannot be cut', () => {
    const frame = data({ payload: 'a'.repeat(300) });
    const lane = laneOf([frame]);
    const failing: Cut = () => {
      throw new TypeError('no');
    };
    expect(() => lane.take(failing)).toThrow(new TypeError('no'));
    expect([lane.front, lane.bytes]).toEqual([frame, 302]);
  });
});

describe('encodedPartOf', () => {
  it.each<[string, Frame, unknown]>([
    ['the fragment of a slice', { type: 'data', fragment: 'abc' }, 'abc'],
    ['the empty fragment of a last slice', { type: 'data', fragment: '' }, ''],
    ['the payload, encoded', data({ payload: [1] }), '[1]'],
    ['nothing of a frame without either', data({}), null],
    ['nothing of a frame that was not prepared', completeFrame({ type: 'data', payload: 1 }), null],
  ])('is %s', (_, frame, part) => {
    expect(encodedPartOf(frame)).toBe(part);
  });
});

function data(fields: Partial<Frame>): OutgoingFrame {
  return outgoing({ type: 'data', stream: 1, ...fields });
}

function outgoing(frame: Frame): OutgoingFrame {
  const { payload = ABSENT } = frame;
  return new OutgoingFrame(frame, payload === ABSENT ? null : CODEC.encodePayload(payload), CODEC);
}

function laneOf([first = data({}), ...rest]: readonly OutgoingFrame[]): Lane {
  const lane = new Lane(first, null);
  for (const frame of rest) lane.append(frame);
  return lane;
}

function takeAllOf(lane: Lane): Frame[] {
  const slices: Frame[] = [];
  while (!lane.empty) slices.push(lane.take(cut));
  return slices;
}
