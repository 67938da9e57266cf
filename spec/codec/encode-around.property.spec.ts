import { describe, expect, it } from '@jest/globals';
import { Buffer } from 'node:buffer';
import fc from '../support/fast-check.js';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { RichCodec } from '../../src/codec/rich.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { messageBytes } from '../support/codec/values.js';
import { binaryPayload, frames, jsonPayload, richPayload } from '../support/wire/arbitraries.js';

const json = new JsonCodec();
const msgpack = new MsgpackCodec();
const rich = new RichCodec();

/** The frame, and its fragments under the smallest of a few caps that holds them. */
function wholeAndCut(frame: Frame, codec: JsonCodec | MsgpackCodec): Frame[] {
  for (const cap of [300, 600, 1_200]) {
    try {
      return [frame, ...splitFrame(frame, cap, codec)];
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
    }
  }
  return [frame];
}

describe.each([
  ['json', json, jsonPayload()],
  ['msgpack', msgpack, binaryPayload()],
  ['rich', rich, richPayload()],
] as const)('`encodeAround` of %s', (_name, codec, payload) => {
  it('A payload or a fragment between the two parts makes the message that `encode` returns', () => {
    fc.assert(
      fc.property(frames(payload), (frame) => {
        for (const one of wholeAndCut(frame, codec)) {
          const part = one.fragment ?? one.payload;
          if (part === ABSENT) continue;
          const [before, behind] = codec.encodeAround(one);
          const joined = Buffer.concat([messageBytes(before), messageBytes(codec.encodePayload(part)), messageBytes(behind)]);
          expect(joined.equals(messageBytes(codec.encode(one)))).toBe(true);
        }
      }),
    );
  });

  it('`encodeAround` does not read the payload', () => {
    const unread = {
      type: 'data',
      stream: 1,
      end: true,
      get payload(): unknown {
        throw new Error('read');
      },
    };
    const [before, behind] = codec.encodeAround(unread);
    expect(messageBytes(before).toString('latin1')).toContain('payload');
    expect(messageBytes(behind).length).toBeLessThanOrEqual(1);
  });
});

describe('`encodeAround`', () => {
  it('`encodeAround` throws a TypeError for an id that is no number, and for trailers that a codec cannot represent', () => {
    expect(() => json.encodeAround({ type: 'data', stream: NaN })).toThrow("codec 'json': expected a finite number as 'stream', got NaN");
    expect(() => msgpack.encodeAround({ type: 'data', stream: 1, trailers: { of: new Map() } })).toThrow(TypeError);
  });
});
