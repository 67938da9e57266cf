import { describe, expect, it } from '@jest/globals';
import { MsgpackCodec } from '../../src/msgpack.js';
import { failureOf, nested } from '../support/values.js';

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

describe('MsgpackCodec asks an object with a toJSON for the value that stands for it', () => {
  it.each<[string, unknown]>([
    ['at the top', new User()],
    ['in an object and in an array', { user: new User(), users: [new User(), { friend: new User() }] }],
    ['and passes the key', { a: new Celsius(), b: [new Celsius(), new Celsius()] }],
    ['and passes an empty key at the top', new Celsius()],
    ['also where a plain object has one of its own', { toJSON: () => [1, 'a'] }],
    ['also where an array has one', Object.assign([1], { toJSON: () => 'array' })],
    ['also where it returns an object with another', { toJSON: () => ({ user: new User() }) }],
    ['and leaves the property out where it returns undefined', { a: { toJSON: () => undefined }, b: [{ toJSON: () => undefined }] }],
    ['unless it is no function', { toJSON: 'text' }],
    ['such as a URL', new URL('http://localhost/a?b')],
  ])('%s', (_title, value) => {
    expect(roundTrip(value)).toEqual(JSON.parse(JSON.stringify(value)));
  });

  it.each(['headers', 'trailers'] as const)('in %s', (field) => {
    const frame = codec.decode(codec.encode({ type: 'data', stream: 1, payload: 1, [field]: { user: new User() } }));
    expect(frame[field]).toEqual({ user: { name: 'ada' } });
  });

  it('once, also where the same object stands twice', () => {
    let calls = 0;
    const value = { toJSON: () => ({ calls: ++calls }) };
    expect(roundTrip([value, { value }])).toEqual([{ calls: 1 }, { value: { calls: 2 } }]);
  });

  it('and does not ask its answer again', () => {
    const echo = { a: 1, toJSON: () => Object.create({ toJSON: () => 'asked twice' }, { b: { value: 2, enumerable: true } }) as object };
    expect(roundTrip(echo)).toEqual({ b: 2 });
  });

  it('but sends a Date as a Date and bytes as bytes, although both have one', () => {
    const value = { at: new Date(5), moment: new Moment(6), raw: Buffer.of(1, 2), answer: { toJSON: () => [new Date(7), Buffer.of(3)] } };
    expect(roundTrip(value)).toEqual({
      at: new Date(5),
      moment: new Date(6),
      raw: Uint8Array.of(1, 2),
      answer: [new Date(7), Uint8Array.of(3)],
    });
  });
});

describe('MsgpackCodec and what a toJSON does wrong', () => {
  const at = (place: string, got: string): string => `TypeError: codec 'msgpack': expected a value it can carry at ${place}, got ${got}`;
  const tooDeep = "TypeError: codec 'msgpack': expected at most 95 levels of nesting in payload, got more or a circular structure";

  it.each<[string, unknown, string]>([
    ['throws what it throws', { a: { toJSON: failing } }, 'RangeError: of the application'],
    ['names the place of a value that it cannot carry', { a: [{ toJSON: () => ({ deep: new Set() }) }] }, at('payload.a[0].deep', 'a Set')],
    ['refuses undefined at the top', { toJSON: () => undefined }, at('payload', 'an Object')],
    ['refuses an answer without end', loop, tooDeep],
    ['counts the levels of an answer', nested(95, (inner) => ({ toJSON: () => [inner] })), 'returns'],
    ['refuses a level more in an answer', nested(96, (inner) => ({ toJSON: () => [inner] })), tooDeep],
  ])('%s', (_title, value, outcome) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe(outcome);
  });
});

function failing(): never {
  throw new RangeError('of the application');
}
