import { beforeEach, describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { Assembler } from '../../src/wire/assembler.js';
import type { Codec } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';

const json = new JsonCodec();
const msgpack = new MsgpackCodec();
const silent: Codec = {
  name: 'silent',
  binary: false,
  encode: refuse,
  decode: refuse,
  encodePayload: refuse,
  decodePayload: refuse,
};

const more = (fragment: string | ArrayBuffer): Frame => ({ type: 'data', stream: 1, fragment, more: true });
const last = (fragment: string | ArrayBuffer): Frame => ({ type: 'data', stream: 1, fragment });
const bytes = (...values: number[]): ArrayBuffer => Uint8Array.from(values).buffer;

let assembler: Assembler;
const state = (): object => ({ inProgress: assembler.inProgress, byteLength: assembler.byteLength });
const IDLE = { inProgress: false, byteLength: 0 };

beforeEach(() => {
  assembler = new Assembler();
});

describe('Assembler states', () => {
  it('is idle at first, with no bytes', () => {
    expect(state()).toEqual(IDLE);
  });

  it('idle, a fragment with more: in progress, bytes kept, ABSENT', () => {
    expect(assembler.feed(more('"ab'), json)).toBe(ABSENT);
    expect(state()).toEqual({ inProgress: true, byteLength: 3 });
  });

  it('in progress, a fragment with more: in progress, bytes kept, ABSENT', () => {
    assembler.feed(more('"ab'), json);
    expect(assembler.feed(more('cd'), json)).toBe(ABSENT);
    expect(state()).toEqual({ inProgress: true, byteLength: 5 });
  });

  it('in progress, a fragment without more: idle, the payload', () => {
    assembler.feed(more('"ab'), json);
    expect(assembler.feed(last('cd"'), json)).toBe('abcd');
    expect(state()).toEqual(IDLE);
  });

  it('in progress, reset: idle', () => {
    assembler.feed(more('"ab'), json);
    assembler.reset();
    expect(state()).toEqual(IDLE);
    expect(assembler.feed(last('1'), json)).toBe(1);
  });

  it('idle, a fragment without more: the payload at once', () => {
    expect(assembler.feed(last('{"a":1}'), json)).toEqual({ a: 1 });
    expect(state()).toEqual(IDLE);
  });

  it('idle, reset: idle', () => {
    assembler.reset();
    expect(state()).toEqual(IDLE);
  });

  it('counts an empty first fragment as progress', () => {
    assembler.feed(more(''), json);
    expect(state()).toEqual({ inProgress: true, byteLength: 0 });
  });
});

describe('Assembler.feed', () => {
  it('takes an empty closing fragment', () => {
    assembler.feed(more('"ab"'), json);
    expect(assembler.feed(last(''), json)).toBe('ab');
  });

  it('gives a payload of null, which is not ABSENT', () => {
    expect(assembler.feed(last('null'), json)).toBeNull();
  });

  it('joins bytes, empty pieces among them, and decodes them once', () => {
    const encoded = new Uint8Array(msgpack.encodePayload({ a: 'bytes' }));
    for (const byte of encoded) {
      expect(assembler.feed(more(bytes()), msgpack)).toBe(ABSENT);
      expect(assembler.feed(more(bytes(byte)), msgpack)).toBe(ABSENT);
    }
    expect(state()).toEqual({ inProgress: true, byteLength: encoded.length });
    expect(assembler.feed(last(bytes()), msgpack)).toEqual({ a: 'bytes' });
  });

  it('measures text in bytes of UTF-8, piece by piece', () => {
    assembler.feed(more('"€'), json);
    assembler.feed(more('😀'), json);
    expect(assembler.byteLength).toBe(8);
  });

  it('joins before it decodes, so a sender may cut where it likes', () => {
    assembler.feed(more('"\ud83d'), json);
    assembler.feed(more('\ude00\\'), json);
    expect(assembler.feed(last('n"'), json)).toBe('😀\n');
  });

  it('uses the codec on the closing fragment only', () => {
    expect(assembler.feed(more('1'), silent)).toBe(ABSENT);
    expect(() => assembler.feed(last('2'), silent)).toThrow('used the codec');
  });

  it('takes 16 384 pieces', () => {
    assembler.feed(more('"'), json);
    for (let count = 0; count < 16_384; count++) assembler.feed(more('x'), json);
    expect(assembler.feed(last('"'), json)).toBe('x'.repeat(16_384));
  });
});

describe('Assembler.feed: ProtocolError', () => {
  it.each<[string, Frame]>([
    ['no fragment', { type: 'data', stream: 1, payload: 1 }],
    ['a fragment of null', { type: 'data', stream: 1, fragment: null, more: true }],
  ])('for %s, and keeps what it holds', (_what, frame) => {
    assembler.feed(more('"ab'), json);
    expect(() => assembler.feed(frame, json)).toThrow(new ProtocolError("stream 1: expected a fragment, got a 'data' frame without one"));
    expect(state()).toEqual({ inProgress: true, byteLength: 3 });
  });

  it('quotes no type that is not known', () => {
    const frame = { type: 'x'.repeat(1_000), stream: 1 };
    expect(() => assembler.feed(frame, json)).toThrow(
      new ProtocolError('stream 1: expected a fragment, got a frame of an unknown type without one'),
    );
  });

  it.each<[string, Frame, Frame]>([
    ['bytes after text', more('a'), more(bytes(1))],
    ['text after bytes', more(bytes(1)), last('a')],
    ['bytes after text', more(''), last(bytes())],
  ])('for %s, and is idle', (got, first, second) => {
    assembler.feed(first, json);
    expect(() => assembler.feed(second, json)).toThrow(new ProtocolError(`stream 1: expected fragments of one kind, got ${got}`));
    expect(state()).toEqual(IDLE);
  });

  it.each<[string, Codec, Frame]>([
    ['text that is not JSON', json, last('{"a"')],
    ['bytes that are not msgpack', msgpack, last(bytes(0xc1))],
    ['text under a binary codec', msgpack, last('1')],
  ])('for %s, and is idle', (_what, codec, closing) => {
    expect(() => assembler.feed(closing, codec)).toThrow(ProtocolError);
    expect(state()).toEqual(IDLE);
  });

  it('when the pieces together do not decode, and is idle', () => {
    assembler.feed(more('{"a"'), json);
    expect(() => assembler.feed(last(''), json)).toThrow(ProtocolError);
    expect(state()).toEqual(IDLE);
  });
});

function refuse(): never {
  throw new Error('used the codec');
}
