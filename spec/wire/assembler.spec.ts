import { beforeEach, describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { Assembler } from '../../src/wire/reassembly.js';
import type { Codec } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { bytes } from '../support/codec/values.js';

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

let assembler: Assembler;
const state = (): object => ({ inProgress: assembler.inProgress, byteLength: assembler.byteLength });
const IDLE = { inProgress: false, byteLength: 0 };

beforeEach(() => {
  assembler = new Assembler();
});

describe('Assembler states', () => {
  it('An Assembler is idle at first, without bytes', () => {
    expect(state()).toEqual(IDLE);
  });

  it('An idle Assembler keeps a fragment with more, and returns ABSENT', () => {
    expect(assembler.feed(more('"ab'), json)).toBe(ABSENT);
    expect(state()).toEqual({ inProgress: true, byteLength: 3 });
  });

  it('An Assembler in progress keeps a fragment with more, and returns ABSENT', () => {
    assembler.feed(more('"ab'), json);
    expect(assembler.feed(more('cd'), json)).toBe(ABSENT);
    expect(state()).toEqual({ inProgress: true, byteLength: 5 });
  });

  it('An Assembler in progress returns the payload at a fragment without more, and is idle', () => {
    assembler.feed(more('"ab'), json);
    expect(assembler.feed(last('cd"'), json)).toBe('abcd');
    expect(state()).toEqual(IDLE);
  });

  it('An Assembler in progress drops its fragments at reset, and is idle', () => {
    assembler.feed(more('"ab'), json);
    assembler.reset();
    expect(state()).toEqual(IDLE);
    expect(assembler.feed(last('1'), json)).toBe(1);
  });

  it('An idle Assembler returns the payload of a fragment without more at once', () => {
    expect(assembler.feed(last('{"a":1}'), json)).toEqual({ a: 1 });
    expect(state()).toEqual(IDLE);
  });

  it('An idle Assembler stays idle at reset', () => {
    assembler.reset();
    expect(state()).toEqual(IDLE);
  });

  it('An Assembler is in progress after an empty first fragment', () => {
    assembler.feed(more(''), json);
    expect(state()).toEqual({ inProgress: true, byteLength: 0 });
  });
});

describe('Assembler.feed', () => {
  it('Assembler accepts an empty closing fragment', () => {
    assembler.feed(more('"ab"'), json);
    expect(assembler.feed(last(''), json)).toBe('ab');
  });

  it('Assembler returns a payload of null, which is not ABSENT', () => {
    expect(assembler.feed(last('null'), json)).toBeNull();
  });

  it('Assembler joins bytes, also empty ones, and decodes them once', () => {
    const encoded = new Uint8Array(msgpack.encodePayload({ a: 'bytes' }));
    for (const byte of encoded) {
      expect(assembler.feed(more(bytes()), msgpack)).toBe(ABSENT);
      expect(assembler.feed(more(bytes(byte)), msgpack)).toBe(ABSENT);
    }
    expect(state()).toEqual({ inProgress: true, byteLength: encoded.length });
    expect(assembler.feed(last(bytes()), msgpack)).toEqual({ a: 'bytes' });
  });

  it('Assembler measures text in bytes of UTF-8, fragment by fragment', () => {
    assembler.feed(more('"€'), json);
    assembler.feed(more('😀'), json);
    expect(assembler.byteLength).toBe(8);
  });

  it('Assembler joins before it decodes, so a sender may cut anywhere', () => {
    assembler.feed(more('"\ud83d'), json);
    assembler.feed(more('\ude00\\'), json);
    expect(assembler.feed(last('n"'), json)).toBe('😀\n');
  });

  it('Assembler calls the codec at the closing fragment only', () => {
    expect(assembler.feed(more('1'), silent)).toBe(ABSENT);
    expect(() => assembler.feed(last('2'), silent)).toThrow('used the codec');
  });

  it('Assembler accepts 16 384 fragments', () => {
    assembler.feed(more('"'), json);
    for (let count = 0; count < 16_384; count++) assembler.feed(more('x'), json);
    expect(assembler.feed(last('"'), json)).toBe('x'.repeat(16_384));
  });
});

describe('Assembler.feed: ProtocolError', () => {
  it.each<[string, Frame]>([
    ['no fragment', { type: 'data', stream: 1, payload: 1 }],
    ['a fragment of null', { type: 'data', stream: 1, fragment: null, more: true }],
  ])('Assembler throws a ProtocolError for %s, and keeps its fragments', (_what, frame) => {
    assembler.feed(more('"ab'), json);
    expect(() => assembler.feed(frame, json)).toThrow(new ProtocolError("stream 1: expected a fragment, got a 'data' frame without one"));
    expect(state()).toEqual({ inProgress: true, byteLength: 3 });
  });

  it('Assembler quotes no unknown frame type in its error', () => {
    const frame = { type: 'x'.repeat(1_000), stream: 1 };
    expect(() => assembler.feed(frame, json)).toThrow(
      new ProtocolError('stream 1: expected a fragment, got a frame of an unknown type without one'),
    );
  });

  it.each<[string, Frame, Frame]>([
    ['bytes after text', more('a'), more(bytes(1))],
    ['text after bytes', more(bytes(1)), last('a')],
    ['bytes after text', more(''), last(bytes())],
  ])('Assembler throws a ProtocolError for %s, and is idle', (got, first, second) => {
    assembler.feed(first, json);
    expect(() => assembler.feed(second, json)).toThrow(new ProtocolError(`stream 1: expected fragments of one kind, got ${got}`));
    expect(state()).toEqual(IDLE);
  });

  it.each<[string, Codec, Frame]>([
    ['text that is not JSON', json, last('{"a"')],
    ['bytes that are not msgpack', msgpack, last(bytes(0xc1))],
    ['text under a binary codec', msgpack, last('1')],
  ])('Assembler throws a ProtocolError for %s, and is idle', (_what, codec, closing) => {
    expect(() => assembler.feed(closing, codec)).toThrow(ProtocolError);
    expect(state()).toEqual(IDLE);
  });

  it('Assembler throws a ProtocolError when the joined fragments do not decode, and is idle', () => {
    assembler.feed(more('{"a"'), json);
    expect(() => assembler.feed(last(''), json)).toThrow(ProtocolError);
    expect(state()).toEqual(IDLE);
  });
});

function refuse(): never {
  throw new Error('used the codec');
}
