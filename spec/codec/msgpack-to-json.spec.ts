import { describe, expect, it } from '@jest/globals';
import { MsgpackCodec } from '../../src/msgpack.js';
import { failing, failureOf, nested } from '../support/codec/values.js';

const codec = new MsgpackCodec();
const roundTrip = (value: unknown): unknown => codec.decodePayload(codec.encodePayload(value));

class User {
  readonly name = 'ada';
  readonly passwordHash = '$2b$10$';
  toJSON(): unknown {
    return { name: this.name };
  }
}

class Celsius {
  readonly #degrees = 21;
  toJSON(key: string): unknown {
    return { key, degrees: this.#degrees };
  }
}

class Moment extends Date {
  override toJSON(): string {
    return 'a text';
  }
}

const loop: { toJSON(): unknown } = { toJSON: () => ({ again: loop }) };

describe('MsgpackCodec and toJSON', () => {
  it.each<[string, unknown]>([
    ['at the top', new User()],
    ['in an object and in an array', { user: new User(), users: [new User(), { friend: new User() }] }],
    ['with the key as the argument', { a: new Celsius(), b: [new Celsius(), new Celsius()] }],
    ['with an empty key at the top', new Celsius()],
    ['of a plain object', { toJSON: () => [1, 'a'] }],
    ['of an array', Object.assign([1], { toJSON: () => 'array' })],
    ['that returns an object with another toJSON', { toJSON: () => ({ user: new User() }) }],
    ['that returns undefined, and drops the property', { a: { toJSON: () => undefined }, b: [{ toJSON: () => undefined }] }],
    ['unless it is not a function', { toJSON: 'text' }],
    ['of a URL', new URL('http://localhost/a?b')],
  ])('MsgpackCodec calls toJSON as JSON.stringify does: %s', (_title, value) => {
    expect(roundTrip(value)).toEqual(JSON.parse(JSON.stringify(value)));
  });

  it.each(['headers', 'trailers'] as const)('MsgpackCodec calls toJSON in %s', (field) => {
    const frame = codec.decode(codec.encode({ type: 'data', stream: 1, payload: 1, [field]: { user: new User() } }));
    expect(frame[field]).toEqual({ user: { name: 'ada' } });
  });

  it('MsgpackCodec calls toJSON once for each place of an object', () => {
    let calls = 0;
    const value = { toJSON: () => ({ calls: ++calls }) };
    expect(roundTrip([value, { value }])).toEqual([{ calls: 1 }, { value: { calls: 2 } }]);
  });

  it('MsgpackCodec does not call toJSON on the result of toJSON', () => {
    const echo = { a: 1, toJSON: () => Object.create({ toJSON: () => 'asked twice' }, { b: { value: 2, enumerable: true } }) as object };
    expect(roundTrip(echo)).toEqual({ b: 2 });
  });

  it('MsgpackCodec sends a Date as a Date and bytes as bytes, although both have a toJSON', () => {
    const value = { at: new Date(5), moment: new Moment(6), raw: Buffer.of(1, 2), answer: { toJSON: () => [new Date(7), Buffer.of(3)] } };
    expect(roundTrip(value)).toEqual({
      at: new Date(5),
      moment: new Date(6),
      raw: Uint8Array.of(1, 2),
      answer: [new Date(7), Uint8Array.of(3)],
    });
  });
});

describe('MsgpackCodec and a faulty toJSON', () => {
  const at = (place: string, got: string): string => `TypeError: codec 'msgpack': expected a value it can carry at ${place}, got ${got}`;
  const tooDeep = "TypeError: codec 'msgpack': expected at most 95 levels of nesting in payload, got more or a circular structure";

  it.each<[string, unknown, string]>([
    ['rethrows an error of toJSON', { a: { toJSON: failing } }, 'RangeError: of the application'],
    ['names the place of a value that it cannot carry', { a: [{ toJSON: () => ({ deep: new Set() }) }] }, at('payload.a[0].deep', 'a Set')],
    ['refuses an undefined result at the top', { toJSON: () => undefined }, at('payload', 'an Object')],
    ['refuses a result that is circular', loop, tooDeep],
    ['accepts a result with 95 levels', nested(95, (inner) => ({ toJSON: () => [inner] })), 'returns'],
    ['refuses a result with 96 levels', nested(96, (inner) => ({ toJSON: () => [inner] })), tooDeep],
  ])('MsgpackCodec %s', (_title, value, outcome) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe(outcome);
  });
});
