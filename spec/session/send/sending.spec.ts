import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import { MsgpackCodec } from '../../../src/codec/msgpack.js';
import { Sending } from '../../../src/stream/sending.js';
import type { Cut } from '../../../src/stream/sending.js';
import type { Codec } from '../../../src/wire/codec.js';
import { slicerFor } from '../../../src/wire/fragment.js';
import { ABSENT } from '../../../src/wire/frame.js';
import type { Frame } from '../../../src/wire/frame.js';
import { encodedLength } from '../../../src/wire/length.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';

const CODEC = new JsonCodec();
const CAP = 128;
const cut: Cut = (frame) => slicerFor(frame, CAP, CODEC);
const uncut: Cut = () => null;

describe('Sending', () => {
  it.each([
    ['a frame without a payload counts the least charge', {}, 64],
    ['a small payload counts the least charge', { payload: 'x' }, 64],
    ['a payload counts its bytes', { payload: 'x'.repeat(98) }, 100],
    ['a payload with characters of several bytes counts its bytes', { payload: 'é'.repeat(49) }, 100],
  ])('Sending counts what a frame holds in memory: %s', (_, fields: Partial<Frame>, bytes) => {
    const queue = new Sending();
    expect([queue.add(data(fields)), queue.bytes]).toEqual([bytes, bytes]);
    expect(queue.add(data(fields))).toBe(bytes);
    expect(queue.bytes).toBe(2 * bytes);
  });

  it('`take` returns whole frames in the order of `add`, and counts down to 0', () => {
    const frames = [1, 2, 3].map((payload) => data({ payload: String(payload).repeat(98) }));
    const queue = queueOf(frames);
    const bytes = frames.map((frame) => {
      expect(queue.front).toBe(frame);
      expect(queue.take(1, uncut)).toBe(frame);
      return queue.bytes;
    });
    expect(bytes).toEqual([200, 100, 0]);
    expect(queue.frames).toBe(0);
  });

  it('`take` returns the slices of a frame one after another, without another frame between them', () => {
    const queue = queueOf([data({ payload: 'a'.repeat(300) }), data({ payload: 'b' })]);
    const slices = takeAllOf(queue);
    const fragments = slices.slice(0, -1);
    expect(fragments.length).toBeGreaterThan(2);
    expect(fragments.map(({ fragment }) => fragment).join('')).toBe(`"${'a'.repeat(300)}"`);
    expect(fragments.map(({ more }) => more)).toEqual(fragments.map((_, at) => at < fragments.length - 1));
    expect(slices.at(-1)?.payload).toBe('b');
    expect(queue.bytes).toBe(0);
  });

  it('Sending counts down with each slice and never below 0', () => {
    const queue = queueOf([data({ payload: 'a'.repeat(300) })]);
    const counts = [queue.bytes];
    while (queue.frames > 0) {
      queue.take(1, cut);
      counts.push(queue.bytes);
    }
    expect(counts[0]).toBe(302);
    expect(counts.at(-1)).toBe(0);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(Math.min(...counts)).toBe(0);
  });

  it.each<[string, unknown, Codec]>([
    ['plain text', 'a'.repeat(1_000), CODEC],
    ['text of two bytes a unit', 'é'.repeat(500), CODEC],
    ['text with escapes', '"'.repeat(300), CODEC],
    ['bytes', new Uint8Array(1_000), new MsgpackCodec()],
  ])('Sending counts a slice by its bytes: %s', (_what, payload, codec) => {
    const queue = queueOf([new OutgoingFrame({ type: 'data', stream: 1, payload }, codec.encodePayload(payload), codec)]);
    let slices = 0;
    for (let before = queue.bytes; queue.frames > 0; before = queue.bytes) {
      const { fragment, more } = queue.take(1, (frame) => slicerFor(frame, 256, codec));
      if (more === true) expect(before - queue.bytes).toBe(encodedLength(fragment ?? ''));
      slices++;
    }
    expect(slices).toBeGreaterThan(3);
  });

  it('Sending charges small slices 64 bytes each, until the charge of their frame is used up', () => {
    const frame = data({ payload: 'a'.repeat(150) });
    const queue = queueOf([frame]);
    const counts: number[] = [];
    while (queue.frames > 0) {
      expect(queue.take(1, (whole) => slicerFor(whole, 80, CODEC)).fragment?.slice(0)).not.toBe('');
      counts.push(queue.bytes);
    }
    expect(counts.slice(0, 4)).toEqual([152 - 64, 152 - 128, 0, 0]);
    expect(counts.at(-1)).toBe(0);
  });

  it('`isUnopened` is true only until the first slice of the open is taken', () => {
    const queue = queueOf([outgoing({ type: 'open', stream: 1, payload: 'a'.repeat(300) })]);
    expect(queue.isUnopened).toBe(true);
    queue.take(1, cut);
    expect(queue.isUnopened).toBe(false);
    expect(queueOf([data({ payload: 1 })]).isUnopened).toBe(false);
  });

  it('`drop` drops all frames, and the rest of the frame that is being sliced', () => {
    const queue = queueOf([data({ payload: 'a'.repeat(300) }), data({ payload: 2, end: true })]);
    expect(queue.isEnding).toBe(true);
    queue.take(1, cut);
    queue.drop();
    expect([queue.frames, queue.bytes, queue.isEnding, queue.isIdle]).toEqual([0, 0, false, true]);
    queue.add(data({ payload: 3 }));
    expect(queue.take(1, cut).payload).toBe(3);
  });

  it('`take` sets the id of the stream on each frame, and throws once no frame is queued', () => {
    const queue = queueOf([data({})]);
    expect(queue.take(7, cut).stream).toBe(7);
    expect(() => queue.take(7, cut)).toThrow(new TypeError('expected a frame to be queued, got a queue that is empty'));
  });

  it('Sending stays unchanged when its first frame cannot be sliced', () => {
    const frame = data({ payload: 'a'.repeat(300) });
    const queue = queueOf([frame]);
    const failing: Cut = () => {
      throw new TypeError('no');
    };
    expect(() => queue.take(1, failing)).toThrow(new TypeError('no'));
    expect([queue.front, queue.bytes]).toEqual([frame, 302]);
  });
});

function data(fields: Partial<Frame>): OutgoingFrame {
  return outgoing({ type: 'data', stream: 1, ...fields });
}

function outgoing(frame: Frame): OutgoingFrame {
  const { payload = ABSENT } = frame;
  return new OutgoingFrame(frame, payload === ABSENT ? null : CODEC.encodePayload(payload), CODEC);
}

function queueOf(frames: readonly OutgoingFrame[]): Sending {
  const queue = new Sending();
  for (const frame of frames) queue.add(frame);
  return queue;
}

function takeAllOf(queue: Sending): Frame[] {
  const slices: Frame[] = [];
  while (queue.frames > 0) slices.push(queue.take(1, cut));
  return slices;
}
