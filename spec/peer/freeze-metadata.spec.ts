import { describe, expect, it, jest } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec } from '../../src/wire/codec.js';
import { freezeMetadata } from '../../src/stream/metadata.js';

class Shouting extends JsonCodec {
  override encodePayload(payload: unknown): string {
    return super.encodePayload(payload).toUpperCase();
  }
}

class Whispering extends JsonCodec {
  override decodePayload(data: string): unknown {
    return super.decodePayload(data.toLowerCase());
  }
}

class Refusing extends JsonCodec {
  override carries(): boolean {
    return false;
  }
}

describe('freezeMetadata', () => {
  it.each([new JsonCodec(), new MsgpackCodec()])('Headers of scalars are copied and frozen without a call of $name', (codec) => {
    const encodePayload = jest.spyOn(Object.getPrototypeOf(codec) as JsonCodec, 'encodePayload');
    const given = { trace: 't1', attempt: 2, last: false, parent: null };
    const frozen = freezeMetadata(given, codec);
    given.attempt = 3;
    expect(frozen).toEqual({ trace: 't1', attempt: 2, last: false, parent: null });
    expect([Object.isFrozen(frozen), encodePayload.mock.calls]).toEqual([true, []]);
    encodePayload.mockRestore();
  });

  it.each([new JsonCodec(), new MsgpackCodec()])(
    'Headers under $name have no property that a program has added to `Object.prototype`',
    (codec) => {
      Object.defineProperty(Object.prototype, 'added', { value: 'x', enumerable: true, configurable: true });
      try {
        expect(Object.keys(freezeMetadata({ a: 'a' }, codec) ?? {})).toEqual(['a']);
      } finally {
        Reflect.deleteProperty(Object.prototype, 'added');
      }
    },
  );

  it.each([new JsonCodec(), new MsgpackCodec()])('Headers with other values are as $name decodes them', (codec) => {
    const given = { trace: 't1', list: [1], none: undefined };
    const frozen = freezeMetadata(given, codec);
    given.list.push(2);
    expect(frozen).toStrictEqual({ trace: 't1', list: [1] });
    expect(Object.isFrozen(frozen)).toBe(true);
  });

  it.each([
    ['encodePayload', new Shouting(), { A: 'B' }],
    ['decodePayload', new Whispering(), { a: 'b' }],
    ['carries', new Refusing(), { a: 'B' }],
  ])('A subclass that overrides %s decides what its headers become', (_what, codec, expected) => {
    expect(freezeMetadata({ a: 'B' }, codec)).toEqual(expected);
  });

  it('A codec without `carries` encodes its headers', () => {
    const json = new JsonCodec();
    const codec: Codec = {
      name: 'plain',
      binary: false,
      encode: (frame) => json.encode(frame),
      decode: (message) => json.decode(message),
      encodePayload: () => '{"a":"C"}',
      decodePayload: (data) => json.decodePayload(data),
    };
    expect(freezeMetadata({ a: 'B' }, codec)).toEqual({ a: 'C' });
  });

  it('Headers with the key `__proto__` keep it, or fail, as the codec decides', () => {
    const given = JSON.parse('{"__proto__":"a","b":"b"}') as Record<string, unknown>;
    expect(Object.entries(freezeMetadata(given, new JsonCodec()) ?? {})).toEqual(Object.entries(given));
    expect(() => freezeMetadata(given, new MsgpackCodec())).toThrow("expected any key but '__proto__', got headers.__proto__");
  });

  it('A value with an error names its field', () => {
    expect(() => freezeMetadata({ a: 'a', b: 1n }, new JsonCodec(), 'trailers')).toThrow(
      "codec 'json': expected a value it can carry at trailers.b, got a bigint",
    );
  });

  it('Headers without entries count as none', () => {
    expect([freezeMetadata({}, new JsonCodec()), freezeMetadata({ a: undefined }, new JsonCodec())]).toEqual([null, null]);
  });
});
