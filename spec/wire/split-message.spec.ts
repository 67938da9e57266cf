import { describe, expect, it } from '@jest/globals';
import { Buffer } from 'node:buffer';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import type { Frame } from '../../src/wire/frame.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { sharedSlicer } from '../../src/wire/shared.js';
import { splitEncoder, SplitMessage } from '../../src/wire/shared.js';
import { messageBytes } from '../support/codec/values.js';

const VALUE = 'ä'.repeat(300);

function joined(message: Message | SplitMessage): Buffer {
  if (!(message instanceof SplitMessage)) return messageBytes(message);
  const whole = Buffer.concat([message.before, message.part.encoded, message.behind].map(messageBytes));
  expect(message.byteLength).toBe(whole.length);
  return whole;
}

function sharing(codec: Codec, value: unknown): (fields: Frame) => OutgoingFrame {
  const encoded = codec.encodePayload(value);
  const source = { value };
  return (fields) => new OutgoingFrame({ ...fields, payload: value }, encoded, codec, source);
}

describe.each([
  ['json', new JsonCodec()],
  ['msgpack', new MsgpackCodec()],
])('`splitEncoder` under %s', (_name, codec) => {
  const encode = splitEncoder(codec);

  it.each<readonly [what: string, fields: Frame]>([
    ['a data frame', { type: 'data', stream: 1 }],
    ['an open with headers', { type: 'open', stream: 2 ** 40, headers: { op: 'ä' }, end: true }],
    ['a data frame with trailers', { type: 'data', stream: 1, end: true, trailers: { t: '1' } }],
    ['a reset', { type: 'reset', stream: 1, code: 8, reason: 'ö' }],
  ])('The parts of %s make the message that the codec encodes', (_what, fields) => {
    const frame = sharing(codec, VALUE)(fields);
    const message = encode(frame);
    expect(message).toBeInstanceOf(SplitMessage);
    expect(joined(message).equals(messageBytes(codec.encode({ ...fields, payload: VALUE })))).toBe(true);
  });

  it('Frames with the same type, id and end have one message, and any other frame has its own', () => {
    const frameOf = sharing(codec, VALUE);
    const plain: Frame = { type: 'data', stream: 1 };
    const message = encode(frameOf(plain));
    expect(encode(frameOf(plain))).toBe(message);
    for (const other of [
      { ...plain, stream: 3 },
      { ...plain, type: 'open' },
      { ...plain, end: true },
      { ...plain, headers: {} },
    ]) {
      expect(encode(frameOf(plain))).toEqual(message);
      const different = encode(frameOf(other));
      expect(joined(different).equals(messageBytes(codec.encode({ ...other, payload: VALUE })))).toBe(true);
    }
  });

  it('The slices of frames have one part, and make the messages that the codec encodes', () => {
    const value = 'a "quoted" text '.repeat(200);
    const frameOf = sharing(codec, value);
    const [first, second] = [1, 3].map((stream) => {
      const slicer = sharedSlicer(frameOf({ type: 'data', stream, end: true, headers: { op: 'x' }, trailers: { t: 1 } }), 1_000, codec);
      const messages: SplitMessage[] = [];
      while (slicer?.done === false) {
        const slice = slicer.next();
        const message = encode(slice);
        expect(joined(message).equals(messageBytes(codec.encode(slice)))).toBe(true);
        if (message instanceof SplitMessage) messages.push(message);
      }
      return messages.map(({ part }) => part);
    });
    expect(first?.length).toBeGreaterThanOrEqual(3);
    expect(second?.length).toBe(first?.length);
    first?.forEach((part, n) => {
      expect(second?.[n]).toBe(part);
    });
  });

  it('The message of a small payload, of an unshared payload and of an unshared slice stays whole', () => {
    const unshared = new OutgoingFrame({ type: 'data', stream: 1, payload: VALUE }, codec.encodePayload(VALUE), codec);
    const slice = sharedSlicer(unshared, 400, codec)?.next();
    const small = sharing(codec, 'small')({ type: 'data', stream: 1 });
    const unprepared: Frame = { type: 'data', stream: 1, payload: VALUE };
    const unsourced = new OutgoingFrame(unprepared, codec.encodePayload(VALUE), codec, null);
    for (const frame of [small, unshared, unsourced, unprepared, slice]) {
      if (frame === undefined) throw new Error('expected a slice');
      const message = encode(frame);
      expect(message).not.toBeInstanceOf(SplitMessage);
      expect(joined(message).equals(messageBytes(codec.encode(frame)))).toBe(true);
    }
  });
});

describe('`splitEncoder`', () => {
  it.each<readonly [what: string, codec: Codec]>([
    ['has no `encodeAround`', Object.assign(new JsonCodec(), { encodeAround: undefined })],
    ...(['encode', 'encodeWith', 'encodePayload'] as const).map((member) => {
      const codec = new JsonCodec();
      return [`overrides \`${member}\``, Object.assign(codec, { [member]: codec[member].bind(codec) })] as const;
    }),
  ])('A codec that %s encodes whole messages', (_what, codec) => {
    const message = splitEncoder(codec)(sharing(codec, VALUE)({ type: 'data', stream: 1 }));
    expect(message).toBe(new JsonCodec().encode({ type: 'data', stream: 1, payload: VALUE }));
  });

  it('A payload that another codec has encoded is encoded anew', () => {
    const frame = sharing(new MsgpackCodec(), VALUE)({ type: 'data', stream: 1 });
    expect(splitEncoder(new JsonCodec())(frame)).toBe(new JsonCodec().encode({ type: 'data', stream: 1, payload: VALUE }));
  });
});
