import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { bytes } from '../support/codec/values.js';
import { revoked } from '../support/hostile/values.js';
import { binaryPayload, frames } from '../support/wire/arbitraries.js';

const withPayload = (payload: unknown): Frame => ({ type: 'data', stream: 1, payload });

/** Detaches a buffer. */
function handedOn(buffer: ArrayBuffer): ArrayBuffer {
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

function viewOfHandedOn(View: new (buffer: ArrayBuffer, offset: number) => ArrayBufferView): ArrayBufferView {
  const view = new View(bytes(0, 0, 1, 2), 2);
  structuredClone(view.buffer, { transfer: [view.buffer as ArrayBuffer] });
  return view;
}

function viewBeyondShrunk(View: new (buffer: ArrayBuffer, offset: number) => ArrayBufferView): ArrayBufferView {
  const buffer = Reflect.construct(ArrayBuffer, [4, { maxByteLength: 4 }]) as ArrayBuffer & { resize(bytes: number): void };
  const view = new View(buffer, 2);
  buffer.resize(1);
  return view;
}

/** It calls itself a `Date`, but is none. */
class Dated {
  readonly [Symbol.toStringTag] = 'Date';
}

/** A map with a getter that throws. */
const unreadable = {
  get a(): never {
    throw new Error('not to be read');
  },
};

describe('framesEqual: all twelve fields after defaults are normalised', () => {
  const frame: CompleteFrame = {
    type: 'data',
    stream: 1,
    payload: { a: 1 },
    fragment: 'f',
    more: true,
    headers: { h: 1 },
    end: true,
    trailers: { t: 1 },
    code: 8,
    reason: 'r',
    nonce: 'n',
    last_stream: 4,
  };

  it('`framesEqual` ignores the order of keys', () => {
    expect(framesEqual(frame, Object.fromEntries(Object.entries(frame).reverse()) as unknown as Frame)).toBe(true);
  });

  it.each<[keyof Frame, unknown]>([
    ['type', 'open'],
    ['stream', 3],
    ['payload', { a: 2 }],
    ['fragment', 'g'],
    ['more', false],
    ['headers', { h: 2 }],
    ['end', false],
    ['trailers', { t: 2 }],
    ['code', 7],
    ['reason', 's'],
    ['nonce', 'm'],
    ['last_stream', 6],
  ])('`framesEqual` distinguishes frames by %s', (key, value) => {
    expect(framesEqual(frame, { ...frame, [key]: value })).toBe(false);
  });

  it('`framesEqual` treats a missing field as its default', () => {
    expect(framesEqual({ type: 'data' }, completeFrame({ type: 'data' }))).toBe(true);
  });

  it('`framesEqual` treats a missing payload as ABSENT, not as null', () => {
    expect(framesEqual({ type: 'data' }, withPayloadOnly(ABSENT))).toBe(true);
    expect(framesEqual({ type: 'data' }, withPayloadOnly(undefined))).toBe(true);
    expect(framesEqual({ type: 'data' }, withPayloadOnly(null))).toBe(false);
  });

  it('`framesEqual` ignores other keys', () => {
    const later = { type: 'data', later: 1 };
    expect(framesEqual(later, { type: 'data' })).toBe(true);
    expect(framesEqual({ ...completeFrame({ type: 'data' }), ...later }, { type: 'data' })).toBe(true);
  });

  it('`framesEqual` compares ArrayBuffers byte by byte', () => {
    expect(framesEqual({ type: 'data', fragment: bytes(1, 2) }, { type: 'data', fragment: bytes(1, 2) })).toBe(true);
    expect(framesEqual({ type: 'data', fragment: bytes(1, 2) }, { type: 'data', fragment: bytes(1, 3) })).toBe(false);
    expect(framesEqual({ type: 'data', fragment: bytes(1, 2) }, { type: 'data', fragment: bytes(1, 2, 3) })).toBe(false);
    expect(framesEqual({ type: 'data', fragment: bytes(97) }, { type: 'data', fragment: 'a' })).toBe(false);
  });

  function withPayloadOnly(payload: unknown): Frame {
    return { type: 'data', payload };
  }
});

describe('framesEqual: payloads, headers and trailers', () => {
  const shared = { deep: [1, 2] };

  it.each<[string, unknown, unknown]>([
    ['NaN', Number.NaN, Number.NaN],
    ['0 and -0', 0, -0],
    ['maps in another order', { a: 1, b: [2] }, { b: [2], a: 1 }],
    ['a map without a prototype and one with', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['a map whose key is __proto__', JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
    ['nested arrays', [[], [[1]]], [[], [[1]]]],
    ['dates', new Date(5), new Date(5)],
    ['invalid dates', new Date(Number.NaN), new Date(Number.NaN)],
    ['dates of two realms', new Date(5), runInNewContext('new Date(5)')],
    ['bytes of two realms', bytes(1, 2), runInNewContext('Uint8Array.of(1, 2).buffer')],
    ['typed arrays', Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
    ['a view and the buffer of the same bytes', new Uint8Array(bytes(0, 1, 2), 1), bytes(1, 2)],
    ['a Buffer and a Uint8Array', Buffer.from([1]), Uint8Array.of(1)],
    ['empty bytes', new ArrayBuffer(0), new Uint8Array(0)],
    ['no bytes and a detached buffer', new ArrayBuffer(0), handedOn(bytes(1, 2))],
    ['no bytes and a view of a detached buffer', new ArrayBuffer(0), viewOfHandedOn(Uint8Array)],
    ['two views of detached buffers', viewOfHandedOn(Uint16Array), viewOfHandedOn(DataView)],
    ['no bytes and a view beyond the end of a shrunk buffer', new ArrayBuffer(0), viewBeyondShrunk(Uint8Array)],
    ['two views beyond the end of shrunk buffers', viewBeyondShrunk(Uint16Array), viewBeyondShrunk(DataView)],
    ['a part used twice', [shared, shared], [{ deep: [1, 2] }, { deep: [1, 2] }]],
    ['the same function', expect, expect],
    ['an array with a hole and one with undefined', Array(1), [undefined]],
  ])('`framesEqual` finds %s equal', (_what, a, b) => {
    expect(framesEqual(withPayload(a), withPayload(b))).toBe(true);
    expect(framesEqual(withPayload({ x: [b] }), withPayload({ x: [a] }))).toBe(true);
  });

  it.each<[string, unknown, unknown]>([
    ['values of two types', 1, '1'],
    ['null and a map', null, {}],
    ['a map and null', {}, null],
    ['an array and a map', [], {}],
    ['a map and an array', {}, []],
    ['arrays of two lengths', [1], [1, 1]],
    ['arrays of two items', [1, [2]], [1, [3]]],
    ['a missing key', { a: 1, b: 2 }, { a: 1 }],
    ['a key under another name', { a: 1 }, { b: 1 }],
    ['an inherited key', { constructor: Object }, { a: 1 }],
    ['keys of undefined under two names', { a: undefined }, { b: undefined }],
    ['a value of undefined and a missing key', { a: undefined }, {}],
    ['a map whose key is __proto__ and one with that prototype', JSON.parse('{"__proto__":{"a":1}}'), Object.create({ a: 1 })],
    ['two dates', new Date(5), new Date(6)],
    ['a date and a map', new Date(5), {}],
    ['a map and a date', {}, new Date(5)],
    ['bytes and an array', Uint8Array.of(1), [1]],
    ['bytes and a map', Uint8Array.of(), {}],
    ['bytes of two lengths', Uint8Array.of(1), Uint8Array.of(1, 2)],
    ['a view of a part and the whole buffer', new Uint8Array(bytes(0, 1), 1), bytes(0, 1)],
    ['other objects', new Map(), new Map()],
    ['bytes and a detached buffer', bytes(0), handedOn(bytes(0))],
    ['bytes and another object', bytes(), new Map()],
    ['two functions', () => 1, () => 1],
    ['two revoked proxies', revoked(), revoked()],
    ['a map and a revoked proxy', {}, revoked()],
    ['a map with an unreadable value and another', unreadable, { a: 1 }],
    ['two objects that only call themselves dates', new Dated(), new Dated()],
    ['a date and an object that only calls itself one', new Date(5), new Dated()],
    ['a part used twice that differs once', [shared, shared], [{ deep: [1, 2] }, { deep: [1, 3] }]],
    ['a part used twice that differs the first time', [shared, shared], [{ deep: [1, 3] }, { deep: [1, 2] }]],
  ])('`framesEqual` finds %s different', (_what, a, b) => {
    expect(framesEqual(withPayload(a), withPayload(b))).toBe(false);
    expect(framesEqual({ type: 'open', headers: { x: b } }, { type: 'open', headers: { x: a } })).toBe(false);
  });

  it('`framesEqual` ends on cycles, also of different lengths', () => {
    const cycle = (length: number): unknown => {
      const first: Record<string, unknown> = {};
      let last = first;
      for (let count = 1; count < length; count++) last['next'] = last = {};
      last['next'] = first;
      return first;
    };
    expect(framesEqual(withPayload(cycle(2)), withPayload(cycle(3)))).toBe(true);
    const odd = cycle(3) as { next: { value?: number } };
    odd.next.value = 1;
    expect(framesEqual(withPayload(cycle(3)), withPayload(odd))).toBe(false);
  });

  it('`framesEqual` compares values nested 100 000 deep without exhausting the stack', () => {
    const nested = (core: unknown): unknown => {
      let value = core;
      for (let depth = 0; depth < 50_000; depth++) value = [{ value }];
      return value;
    };
    expect(framesEqual(withPayload(nested(1)), withPayload(nested(1)))).toBe(true);
    expect(framesEqual(withPayload(nested(1)), withPayload(nested(2)))).toBe(false);
  });

  it('`framesEqual` walks a part that is shared at every level only once', () => {
    const braid = (): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < 64; level++) value = [value, value];
      return value;
    };
    expect(framesEqual(withPayload(braid()), withPayload(braid()))).toBe(true);
  });

  it('`framesEqual` finds any frame equal to a deep copy of itself', () => {
    fc.assert(
      fc.property(frames(binaryPayload()), (frame) => {
        const { payload, ...rest } = frame;
        const copy = { ...structuredClone(rest), payload: typeof payload === 'symbol' ? payload : structuredClone(payload) };
        expect(framesEqual(frame, copy)).toBe(true);
      }),
    );
  });
});
