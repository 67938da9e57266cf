import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { offersFirst, PREFIX, subprotocol } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { ABSENT, completeFrame, FIELDS, payloadFrame, V1_FRAME_TYPES } from '../../src/wire/frame.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { DEFAULT_LIMITS, resolveLimits } from '../../src/wire/limits.js';
import { framesEqual, fromMapping, toMapping } from '../../src/wire/mapping.js';
import { envelopeBound, OutgoingFrame } from '../../src/wire/outgoing.js';
import { bytes } from '../support/codec/values.js';
import fc from '../support/fast-check.js';
import { revoked } from '../support/hostile/values.js';
import { binaryPayload, frames, jsonPayload } from '../support/wire/arbitraries.js';
import { placesWithout } from '../support/wire/field-places.js';
import type { FieldModules } from '../support/wire/field-places.js';

describe('ABSENT', () => {
  it('ABSENT prints as Symbol(ABSENT)', () => {
    expect(String(ABSENT)).toBe('Symbol(ABSENT)');
  });

  it('ABSENT never appears in JSON', () => {
    expect(JSON.stringify({ payload: ABSENT })).toBe('{}');
    expect(toMapping({ type: 'data', payload: ABSENT })).not.toHaveProperty('payload');
  });

  it('ABSENT is not null', () => {
    expect(completeFrame({ type: 'data' }).payload).toBe(ABSENT);
    expect(completeFrame({ type: 'data', payload: undefined }).payload).toBe(ABSENT);
    expect(completeFrame({ type: 'data', payload: null }).payload).toBeNull();
  });
});

describe('V1_FRAME_TYPES', () => {
  it('V1_FRAME_TYPES holds the six types that a v1 peer sends, without the reserved window_update', () => {
    expect([...V1_FRAME_TYPES]).toEqual(['open', 'data', 'reset', 'ping', 'pong', 'goaway']);
  });
});

describe('Frame', () => {
  it('A complete frame has twelve fields, each with its default', () => {
    expect(completeFrame({ type: 'data' })).toStrictEqual({
      type: 'data',
      stream: null,
      payload: ABSENT,
      fragment: null,
      more: false,
      headers: null,
      end: false,
      trailers: null,
      code: null,
      reason: null,
      nonce: null,
      last_stream: null,
    });
  });

  const full = completeFrame({ type: 'data' });

  it('`completeFrame` returns a frame that has all twelve fields as it is', () => {
    expect(completeFrame(full)).toBe(full);
  });

  it.each(Object.keys(full).filter((field) => field !== 'type'))(
    '`completeFrame` sets %s to its default when only that field is missing',
    (field) => {
      expect(completeFrame({ ...full, [field]: undefined })).toStrictEqual(full);
    },
  );

  it('`completeFrame` keeps every value that is no default', () => {
    const frame = {
      type: 'reset',
      stream: 0,
      payload: '',
      fragment: '',
      more: true,
      headers: {},
      end: true,
      trailers: {},
      code: 0,
      reason: '',
      nonce: '',
      last_stream: 0,
    };
    expect(completeFrame(frame)).toStrictEqual(frame);
  });
});

const LIBRARY: FieldModules = {
  FIELDS,
  completeFrame,
  payloadFrame,
  fromMapping,
  toMapping,
  framesEqual,
  OutgoingFrame,
  splitFrame,
  envelopeBound,
  JsonCodec,
  MsgpackCodec,
};
describe('the fields of a frame', () => {
  it.each(Object.keys(FIELDS).filter((key) => key !== 'type'))('No place misses the field %s', (key) => {
    expect(placesWithout(key, LIBRARY)).toEqual([]);
  });
});

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

const BYTES = Uint8Array.of(1, 2).buffer;
const HIGHEST = Number.MAX_SAFE_INTEGER;

describe('Envelope rules', () => {
  it('Rule 1: toMapping returns type, then stream, then the other keys alphabetically', () => {
    const mapping = toMapping({
      trailers: { t: 1 },
      reason: 'r',
      payload: 1,
      nonce: 'n',
      more: true,
      last_stream: 4,
      headers: { h: 1 },
      fragment: 'f',
      end: true,
      code: 8,
      stream: 3,
      type: 'data',
    });
    expect(Object.keys(mapping)).toEqual([
      'type',
      'stream',
      'code',
      'end',
      'fragment',
      'headers',
      'last_stream',
      'more',
      'nonce',
      'payload',
      'reason',
      'trailers',
    ]);
  });

  it('Rule 2: a ping has exactly the keys type and nonce', () => {
    expect(toMapping({ type: 'ping', nonce: 'n1' })).toEqual({ type: 'ping', nonce: 'n1' });
  });

  it('Rule 3: fromMapping drops unknown keys', () => {
    expect(fromMapping({ type: 'pong', later: 1, __proto__: null })).toEqual(completeFrame({ type: 'pong' }));
  });

  it('Rule 4: fromMapping keeps an unknown type', () => {
    expect(fromMapping({ type: 'window_update' }).type).toBe('window_update');
  });
});

describe('to_mapping', () => {
  it.each<[string, Frame, object]>([
    ['every default', completeFrame({ type: 'data' }), { type: 'data' }],
    [
      'every undefined',
      { type: 'data', stream: undefined, payload: undefined, fragment: undefined, more: undefined, end: undefined },
      { type: 'data' },
    ],
    ['no other key', { type: '' }, { type: '' }],
  ])('`toMapping` omits %s', (_what, frame, mapping) => {
    expect(toMapping(frame)).toStrictEqual(mapping);
  });

  it.each<[string, Frame]>([
    ['a payload of null', { type: 'data', payload: null }],
    ['a payload of false', { type: 'data', payload: false }],
    ['stream 0', { type: 'data', stream: 0 }],
    ['code 0', { type: 'reset', code: 0 }],
    ['last_stream 0', { type: 'goaway', last_stream: 0 }],
    ['empty texts', { type: 'data', fragment: '', reason: '', nonce: '' }],
    ['empty metadata', { type: 'data', headers: {}, trailers: {} }],
    ['byte fragments', { type: 'data', fragment: BYTES }],
  ])('`toMapping` writes %s', (_what, frame) => {
    expect(toMapping(frame)).toStrictEqual(frame);
  });

  it('`toMapping` changes nothing, returns a new object each time and copies no value', () => {
    const frame = Object.freeze({ type: 'data', payload: Object.freeze({ a: 1 }) });
    expect(toMapping(frame)).not.toBe(toMapping(frame));
    expect(toMapping(frame)['payload']).toBe(frame.payload);
  });
});

describe('from_mapping', () => {
  it('`fromMapping` returns a frame with all twelve fields, with ABSENT for a missing payload', () => {
    expect(fromMapping({ type: 'ping' })).toStrictEqual(completeFrame({ type: 'ping' }));
  });

  it.each<[string, unknown[]]>([
    ['type', ['open', '', 'constructor']],
    ['stream', [0, 1, HIGHEST, null]],
    ['last_stream', [0, 2, HIGHEST, null]],
    ['code', [0, -1, 256, 2 ** 60, null]],
    ['fragment', ['', 'slice', BYTES, runInNewContext('new ArrayBuffer(2)'), null]],
    ['more', [true, false]],
    ['end', [true, false]],
    ['headers', [{}, { a: [1] }, Object.create(null), null]],
    ['trailers', [{}, { a: { b: 1 } }, Object.create(null), null]],
    ['reason', ['', 'why', null]],
    ['nonce', ['', '\ud800', null]],
    ['payload', [null, 0, '', [], {}, BYTES, new Date(0)]],
  ])('`fromMapping` accepts these values for %s', (key, values) => {
    for (const value of values) expect(fromMapping({ type: 'data', [key]: value })).toMatchObject({ [key]: value });
  });

  it.each<[string, unknown, string]>([
    ['type', null, 'null'],
    ['type', 1, '1'],
    ['type', {}, 'an object'],
    ['stream', -1, '-1'],
    ['stream', 1.5, '1.5'],
    ['stream', '1', 'a string'],
    ['stream', true, 'true'],
    ['stream', Number.NaN, 'NaN'],
    ['stream', Number.POSITIVE_INFINITY, 'Infinity'],
    ['stream', HIGHEST + 1, '9007199254740992'],
    ['stream', 1n, 'a bigint'],
    ['stream', [], 'an array'],
    ['last_stream', -1, '-1'],
    ['last_stream', 0.5, '0.5'],
    ['last_stream', HIGHEST + 1, '9007199254740992'],
    ['code', 1.5, '1.5'],
    ['code', '8', 'a string'],
    ['code', Number.NaN, 'NaN'],
    ['code', false, 'false'],
    ['fragment', 1, '1'],
    ['fragment', ['a'], 'an array'],
    ['fragment', {}, 'an object'],
    ['fragment', Uint8Array.of(1), 'bytes'],
    ['nonce', runInNewContext('new ArrayBuffer(2)'), 'bytes'],
    ['more', 1, '1'],
    ['more', null, 'null'],
    ['more', 'true', 'a string'],
    ['end', 0, '0'],
    ['end', null, 'null'],
    ['headers', [], 'an array'],
    ['headers', 'a', 'a string'],
    ['headers', BYTES, 'bytes'],
    ['headers', Uint8Array.of(1), 'bytes'],
    ['headers', new Date(0), 'an object'],
    ['headers', new Map(), 'an object'],
    ['trailers', [], 'an array'],
    ['trailers', 1, '1'],
    ['trailers', new Map(), 'an object'],
    ['reason', 1, '1'],
    ['reason', {}, 'an object'],
    ['nonce', 1, '1'],
    ['nonce', [], 'an array'],
  ])('`fromMapping` refuses for %s the value %p', (key, value, got) => {
    const refusal = thrownBy(() => fromMapping({ type: 'data', [key]: value }));
    expect(refusal).toBeInstanceOf(ProtocolError);
    expect(refusal.message).toMatch(new RegExp(`^field '${key}': expected an? .*, got ${got}$`));
  });

  it.each([
    ['no type', {}, "field 'type': expected a string, got none"],
    ['a type of undefined', { type: undefined }, "field 'type': expected a string, got none"],
    ['payload and fragment', { type: 'data', payload: 1, fragment: 'a' }, "expected 'payload' or 'fragment', got both"],
    ['a payload of null and a fragment', { type: 'data', payload: null, fragment: '' }, "expected 'payload' or 'fragment', got both"],
    [
      'a view as the fragment',
      { type: 'data', fragment: Uint8Array.of(1) },
      "field 'fragment': expected a string, an ArrayBuffer or null, got bytes",
    ],
    ['no type, on a stream', { stream: 3 }, "stream 3: field 'type': expected a string, got none"],
    ['a wrong field, on a stream', { type: 'data', stream: 3, more: 1 }, "stream 3: field 'more': expected a boolean, got 1"],
    ['a wrong field, on stream 0', { type: 'data', stream: 0, more: 1 }, "stream 0: field 'more': expected a boolean, got 1"],
    ['a wrong field, on no stream', { type: 'data', stream: null, end: 1 }, "field 'end': expected a boolean, got 1"],
  ])('`fromMapping` refuses %s', (_what, mapping, message) => {
    expect(thrownBy(() => fromMapping(mapping))).toEqual(new ProtocolError(message));
  });

  it.each([
    ['null', null, 'null'],
    ['an array', [], 'an array'],
    ['a string', 'type', 'a string'],
    ['bytes', BYTES, 'bytes'],
    ['a Map', new Map(), 'an object'],
    ['undefined', undefined, 'nothing'],
  ])('`fromMapping` refuses %s as the envelope', (_what, mapping, got) => {
    expect(thrownBy(() => fromMapping(mapping))).toEqual(new ProtocolError(`expected a map as the envelope, got ${got}`));
  });

  it('`fromMapping` accepts a payload beside a fragment of null, which is the default', () => {
    expect(fromMapping({ type: 'data', payload: 1, fragment: null })).toMatchObject({ payload: 1, fragment: null });
  });

  it('`fromMapping` never repeats the text of a field in an error', () => {
    expect(thrownBy(() => fromMapping({ type: 'data', headers: 'secret' })).message).not.toContain('secret');
  });

  it.each(['stream', 'last_stream', 'code'])('`fromMapping` turns -0 into 0 for %s', (key) => {
    expect(fromMapping({ type: 'data', [key]: -0 })).toMatchObject({ [key]: 0 });
  });

  it('`fromMapping` reads own keys only, as if Object.prototype had been polluted', () => {
    const polluted = (own: object): unknown => Object.setPrototypeOf(own, { __proto__: null, type: 'open', stream: 9, more: true });
    expect(thrownBy(() => fromMapping(polluted({ stream: 1 }))).message).toBe("stream 1: field 'type': expected a string, got none");
    expect(fromMapping(polluted({ type: 'data' })).more).toBe(false);
    expect(thrownBy(() => fromMapping(polluted({}))).message).toBe("field 'type': expected a string, got none");
  });

  it('`fromMapping` keeps metadata keys that name a prototype as data', () => {
    const { headers } = fromMapping(JSON.parse('{"type":"open","headers":{"__proto__":{"admin":true},"constructor":1}}'));
    expect(Object.keys(headers ?? {})).toEqual(['__proto__', 'constructor']);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    expect(JSON.stringify(toMapping({ type: 'open', headers }))).toBe(
      '{"type":"open","headers":{"__proto__":{"admin":true},"constructor":1}}',
    );
  });

  it('`fromMapping` is the inverse of toMapping', () => {
    fc.assert(
      fc.property(frames(jsonPayload()), (frame) => {
        expect(fromMapping(toMapping(frame))).toStrictEqual(completeFrame(frame));
      }),
    );
  });
});

function thrownBy(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected an error, got none');
}

const MIB = 1024 * 1024;

describe('Limits', () => {
  it('Limits have these defaults', () => {
    expect(resolveLimits()).toEqual({
      maxMessageBytes: MIB,
      maxPayloadBytes: 16 * MIB,
      maxHeldBytes: 64 * MIB,
      maxPayloadItems: 1_000_000,
      maxFragments: 16_384,
      maxEmptyFragments: 100,
      reassemblyTimeoutMs: 30_000,
      maxStreams: 1_000,
      resets: { burst: 1_000, perSecond: 100 },
      provokedResets: { burst: 1_024, perSecond: 1 },
      junk: { burst: 10_000, perSecond: 330 },
      pings: { burst: 1_000, perSecond: 33 },
      maxControlFrames: 1_000,
      pauseBytes: MIB,
      pauseMs: 5_000,
      maxUnreadBytes: 4 * MIB,
      maxUnsentBytes: 64 * MIB,
      stallBytes: MIB,
      stallMs: 60_000,
      sendHighWaterBytes: 16 * MIB,
      maxQueuedBytes: 16 * MIB,
    });
  });

  it('`resolveLimits` keeps given values, and adds the defaults for missing and undefined ones', () => {
    const given = { maxStreams: 0, maxFragments: undefined, maxHeldBytes: Number.POSITIVE_INFINITY, pings: { burst: 5, perSecond: 0 } };
    expect(resolveLimits(given)).toEqual({
      ...DEFAULT_LIMITS,
      maxStreams: 0,
      maxHeldBytes: Number.POSITIVE_INFINITY,
      pings: { burst: 5, perSecond: 0 },
    });
  });

  it.each<[object, RegExp]>([
    [{ maxGadgets: 1 }, /^limits: expected one of maxMessageBytes, .*, got 'maxGadgets'$/],
    [{ toString: 1 }, /^limits: expected one of .*, got 'toString'$/],
    [{ maxStreams: -1 }, /^limits.maxStreams: expected a number of at least 0, got -1$/],
    [{ maxStreams: Number.NaN }, /^limits.maxStreams: expected a number of at least 0, got NaN$/],
    [{ maxStreams: '10' }, /^limits.maxStreams: expected a number of at least 0, got '10'$/],
    [[], /^limits: expected an object, got an array$/],
    [{ maxStreams: null }, /^limits.maxStreams: expected a number of at least 0, got null$/],
    [{ maxMessageBytes: 65_535 }, /^limits.maxMessageBytes: expected a number of at least 65536, got 65535$/],
    [{ maxPayloadItems: 0 }, /^limits.maxPayloadItems: expected a number of at least 1, got 0$/],
    [{ maxUnsentBytes: 0 }, /^limits.maxUnsentBytes: expected a number of at least 1, got 0$/],
    [{ sendHighWaterBytes: 0 }, /^limits.sendHighWaterBytes: expected a number of at least 1, got 0$/],
    [{ maxPayloadItems: '5' }, /^limits.maxPayloadItems: expected a number of at least 1, got '5'$/],
    [{ junk: 5 }, /^limits.junk: expected { burst, perSecond }, got 5$/],
    [{ junk: null }, /^limits.junk: expected { burst, perSecond }, got null$/],
    [{ junk: Object.assign(() => 0, { burst: 5, perSecond: 5 }) }, /^limits.junk: expected { burst, perSecond }, got a function$/],
    [{ junk: {} }, /^limits.junk.burst: expected a number of at least 0, got undefined$/],
    [{ junk: { burst: 5 } }, /^limits.junk.perSecond: expected a number of at least 0, got undefined$/],
    [{ resets: { burst: -1, perSecond: 1 } }, /^limits.resets.burst: expected a number of at least 0, got -1$/],
  ])('`resolveLimits` throws for %p', (given, message) => {
    expect(() => resolveLimits(given)).toThrow(TypeError);
    expect(() => resolveLimits(given)).toThrow(message);
  });
});

describe('Versioning rule 1: the subprotocol is mux.v1.<codec name>', () => {
  it.each([
    ['mux.v1.json', new JsonCodec()],
    ['mux.v1.msgpack', new MsgpackCodec()],
  ])('`subprotocol` returns %s', (name, codec) => {
    expect(subprotocol(codec)).toBe(name);
    expect(name.startsWith(PREFIX)).toBe(true);
  });
});

describe('Versioning rule 2: the acceptor requires that exact value in first place', () => {
  it.each([
    ['mux.v1.json', true],
    ['mux.v1.json, chat', true],
    [' mux.v1.json ,mux.v1.msgpack', true],
    ['mux.v1.msgpack, mux.v1.json', false],
    ['mux.v2.json', false],
    ['mux.v1.jsonx', false],
    ['MUX.v1.json', false],
    ['', false],
    [',mux.v1.json', false],
    [undefined, false],
  ])('`offersFirst` judges the offer %p', (offered, verdict) => {
    expect(offersFirst(offered, 'mux.v1.json')).toBe(verdict);
  });
});
