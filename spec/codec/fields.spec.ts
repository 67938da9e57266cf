import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { OutgoingFrame, encodeFrame } from '../../src/wire/outgoing.js';

/** A non-default value for each field. The type demands one for every new field. */
const VALUES: { readonly [Field in keyof Frame]-?: CompleteFrame[Field] } = {
  type: 'data',
  stream: 7,
  payload: { n: 1 },
  fragment: null,
  more: true,
  headers: { h: 'a' },
  end: true,
  trailers: { t: 'b' },
  code: 300,
  reason: 'because',
  nonce: 'n1',
  last_stream: 9,
};

const NAMES = (Object.keys(VALUES) as (keyof Frame)[]).filter((name) => name !== 'type' && name !== 'fragment');
const PAIRS = NAMES.flatMap((one) => NAMES.map((other) => [one, other] as const));

describe.each([new JsonCodec(), new MsgpackCodec()])('codec $name', (codec) => {
  it.each(PAIRS)('A codec keeps %s beside %s', (one, other) => {
    const frame: Frame = { type: 'data', [one]: VALUES[one], [other]: VALUES[other] };
    expect(codec.decode(codec.encode(frame))).toMatchObject(frame);
  });

  it('A codec keeps every field around a payload that is already encoded', () => {
    const frame: Frame = { ...VALUES, more: false };
    const encoded = codec.encodePayload(frame.payload);
    expect(codec.decode(encodeFrame(new OutgoingFrame(frame, encoded, codec), codec))).toEqual(frame);
  });

  it('A codec keeps every field beside a fragment', () => {
    const { payload, ...others } = VALUES;
    const fragment = codec.encodePayload(payload);
    expect(codec.decode(codec.encode({ ...others, fragment }))).toMatchObject({ ...others, fragment });
  });
});
