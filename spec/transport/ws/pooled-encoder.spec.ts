import { describe, expect, it } from '@jest/globals';
import { Buffer } from 'node:buffer';
import { JsonCodec } from '../../../src/codec/json.js';
import { MsgpackCodec } from '../../../src/codec/msgpack.js';
import { pooledEncoder } from '../../../src/transport/ws/write.js';
import type { Codec, Message } from '../../../src/wire/codec.js';
import type { Frame } from '../../../src/wire/frame.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';

/** The frame as a call prepares it. */
function outgoing(codec: Codec, frame: Frame): OutgoingFrame {
  return new OutgoingFrame(frame, frame.payload === undefined ? null : codec.encodePayload(frame.payload), codec);
}

class Upper extends MsgpackCodec {
  override encodeWith(frame: Frame, encodedPayload: Message): ArrayBuffer {
    return super.encodeWith({ ...frame, reason: 'upper' }, encodedPayload);
  }
}

const SMALL: Frame = { type: 'data', stream: 7, payload: { op: 'add', id: 'x' }, headers: { trace: 'a' }, end: true };

describe('`pooledEncoder`', () => {
  it.each<readonly [what: string, codec: Codec, frame: Frame, isPooled: boolean]>([
    ['of a small payload', new MsgpackCodec(), SMALL, true],
    ['of a payload of 2 048 bytes', new MsgpackCodec(), { type: 'open', stream: 1, payload: 'x'.repeat(2_045) }, true],
    ['of a payload of 2 049 bytes', new MsgpackCodec(), { type: 'open', stream: 1, payload: 'x'.repeat(2_046) }, false],
    ['without a payload', new MsgpackCodec(), { type: 'complete', stream: 1 }, false],
    ['with trailers', new MsgpackCodec(), { ...SMALL, trailers: { a: 1 } }, false],
    ['of text', new JsonCodec(), SMALL, false],
    ['of a subclass that overrides `encodeWith`', new Upper(), SMALL, false],
  ])('A message %s has the bytes of the codec. It is in the pool: %#', (_what, codec, frame, isPooled) => {
    const given = outgoing(codec, frame);
    const encoded = pooledEncoder(codec)(given) as Message | Uint8Array;
    const payload = OutgoingFrame.encodedPayload(given);
    const plain = payload === null ? codec.encode(frame) : (codec.encodeWith?.(given, payload) ?? '');
    expect(encoded instanceof Uint8Array).toBe(isPooled);
    expect(bytesOf(encoded)).toEqual(bytesOf(plain));
  });

  it('The bytes of a message stay when the codec encodes others', () => {
    const codec = new MsgpackCodec();
    const encode = pooledEncoder(codec);
    const message = encode(outgoing(codec, SMALL)) as Uint8Array;
    const before = Buffer.from(message);
    encode(outgoing(codec, { ...SMALL, payload: { op: 'sub', id: 'y' } }));
    expect(before.equals(message)).toBe(true);
  });
});

function bytesOf(message: Message | Uint8Array): Buffer {
  return typeof message === 'string' ? Buffer.from(message) : Buffer.from(message as Uint8Array);
}
