import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { RichCodec } from '../../src/codec/rich.js';
import { fittingReason } from '../../src/connection/replies.js';
import { Assembler } from '../../src/wire/reassembly.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { MAX_FRAME_BYTES, splitFrame } from '../../src/wire/fragment.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { encodedLength } from '../../src/wire/length.js';

type ErrorName = 'ProtocolError' | 'TypeError';
type Outcome<T> = { readonly error: ErrorName } | ({ readonly error?: never } & T);
type Case<T> = { readonly name: string } & T;
type After = { readonly inProgress: boolean; readonly byteLength: number };
type Fed = { readonly pending: true } | { readonly payload: unknown } | { readonly error: ErrorName };

const ERRORS = { ProtocolError, TypeError };
const CODECS: Readonly<Record<string, Codec>> = { json: new JsonCodec(), msgpack: new MsgpackCodec() };
const json = codecNamed('json');

describe('Conformance: encode', () => {
  type Encoding = Outcome<{ readonly message: string; readonly bytes: number; readonly payload?: string }>;
  const cases = load<{ readonly frame: Frame } & Encoding>('encode', 40);

  it.each(cases)('`encode` passes the case: $name', ({ frame, ...expected }) => {
    if (expected.error !== undefined) {
      expect(() => json.encode(frame)).toThrow(ERRORS[expected.error]);
      return;
    }
    expect(json.encode(frame)).toBe(expected.message);
    expect(encodedLength(expected.message)).toBe(expected.bytes);
    expect(frame.payload === undefined ? undefined : json.encodePayload(frame.payload)).toBe(expected.payload);
  });
});

describe('Conformance: decode', () => {
  const cases = load<{ readonly message: Message } & Outcome<{ readonly frame: Frame }>>('decode', 60);

  it.each(cases)('`decode` passes the case: $name', ({ message, ...expected }) => {
    if (expected.error !== undefined) expect(() => json.decode(message)).toThrow(ERRORS[expected.error]);
    else expectSameFrame(json.decode(message), expected.frame);
  });
});

describe('Conformance: split', () => {
  type Slices = Outcome<{ readonly messages?: readonly string[]; readonly sizes?: readonly number[] }>;
  const cases = load<{ readonly frame: Frame; readonly cap?: number; readonly codec?: null } & Slices>('split', 40);

  it.each(cases)('`splitFrame` passes the case: $name', ({ frame, cap, codec, ...expected }) => {
    const split = (): Frame[] => splitFrame(frame, cap, codec === null ? (undefined as never) : json);
    if (expected.error !== undefined) {
      expect(split).toThrow(ERRORS[expected.error]);
      return;
    }
    const slices = split();
    const messages = slices.map((slice) => json.encode(slice));
    const sizes = messages.map(encodedLength);
    if (expected.sizes === undefined) expect(messages).toEqual(expected.messages);
    else expect(sizes).toEqual(expected.sizes);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(cap ?? MAX_FRAME_BYTES);
    if (slices.length > 1) expect(slices.map((slice) => String(slice.fragment)).join('')).toBe(json.encodePayload(frame.payload));
  });
});

describe('Conformance: assemble', () => {
  type Step = After & ({ readonly reset: true; readonly feed?: never } | ({ readonly feed: Frame } & Fed));
  const cases = load<{ readonly codec: string; readonly steps: readonly Step[] }>('assemble', 25);

  it.each(cases)('Assembler passes the case: $name', ({ codec, steps }) => {
    const assembler = new Assembler();
    for (const { inProgress, byteLength, ...step } of steps) {
      if (step.feed === undefined) assembler.reset();
      else expectFed(() => assembler.feed(step.feed, codecNamed(codec)), step);
      expect({ inProgress: assembler.inProgress, byteLength: assembler.byteLength }).toEqual({ inProgress, byteLength });
    }
  });
});

describe('Conformance: round trip', () => {
  const cases = load<{ readonly codecs: readonly string[]; readonly frame: Frame; readonly caps: readonly number[] }>('roundtrip', 10);
  const rows = cases.flatMap(({ codecs, ...rest }) => codecs.map((codec) => ({ ...rest, codec })));

  it.each(rows)('A round trip passes the case: $name ($codec)', ({ codec: name, frame, caps }) => {
    const codec = codecNamed(name);
    expectSameFrame(codec.decode(codec.encode(frame)), frame);
    for (const cap of caps) {
      const slices = splitFrame(frame, cap, codec);
      const messages = slices.map((slice) => codec.encode(slice));
      const received = messages.map((message) => codec.decode(message));
      expect(Math.max(...messages.map(encodedLength))).toBeLessThanOrEqual(cap);
      for (const [at, slice] of slices.entries()) expectSameFrame(received[at], slice);
      if (slices.length === 1) continue;
      const assembler = new Assembler();
      const payload = received.map((slice) => assembler.feed(slice, codec)).at(-1);
      expectSameFrame({ type: 'data', payload }, { type: 'data', payload: frame.payload });
    }
  });
});

describe('Conformance: rich', () => {
  const codec = new RichCodec();
  type Tagged = { readonly text: string; readonly strict?: true } & Outcome<{ readonly value: unknown }>;

  it.each(load<Tagged>('rich', 50))('The codec rich passes the case: $name', ({ text, strict, ...expected }) => {
    if (expected.error !== undefined) {
      expect(() => codec.decodePayload(text)).toThrow(ERRORS[expected.error]);
      return;
    }
    const value = richValue(expected.value);
    expect(inspect(codec.decodePayload(text), { depth: 9 })).toBe(inspect(value, { depth: 9 }));
    if (strict === undefined) expect(codec.encodePayload(value)).toBe(text);
  });
});

describe('Conformance: reason', () => {
  type Shortened = { readonly frame: Frame; readonly reason: string; readonly cap: number; readonly fits: string | null };

  it.each(load<Shortened>('reason', 14))('A reason passes the case: $name', ({ frame, reason, cap, fits }) => {
    const { payload, ...envelope } = frame;
    const encoded = payload === undefined ? null : json.encodePayload(payload);
    expect(fittingReason(reason, envelope, encoded, cap, json)).toBe(fits);
  });
});

describe('Conformance: marks', () => {
  type Marks = { readonly strict?: true; readonly needs?: string };
  type Marked = Marks & { readonly frame?: Frame; readonly message?: Message; readonly messages?: unknown; readonly error?: ErrorName };
  const marked = ['encode', 'decode', 'split', 'assemble', 'roundtrip', 'reason'].flatMap((file) =>
    load<Marked>(file, 1).map((row) => ({ file, ...row })),
  );

  it.each(marked.filter(({ file }) => file === 'encode' || file === 'split'))(
    'The case of `$file` is strict if another port may spell it otherwise: $name',
    ({ strict, frame, message, messages }) => {
      const isPinned = message !== undefined || messages !== undefined;
      expect(strict).toBe(isPinned && hasOtherSpelling(frame ?? {}) ? true : undefined);
    },
  );

  it.each(marked)('The case of `$file` says whether it needs lone surrogates: $name', (row) => {
    const isDecoded = row.file === 'decode' && row.error === undefined;
    const values = isDecoded ? [row, JSON.parse(String(row.message))] : row;
    expect(row.needs).toBe(hasLoneSurrogate(values) ? 'lone surrogates' : undefined);
  });
});

function expectFed(feed: () => unknown, expected: Fed): void {
  if ('error' in expected) expect(feed).toThrow(ERRORS[expected.error]);
  else if ('pending' in expected) expect(feed()).toBe(ABSENT);
  else expectSameFrame({ type: 'data', payload: feed() }, { type: 'data', payload: expected.payload });
}

/** Returns whether another port may sort the keys of these values, or escape other characters. A receiver reads the same values. */
function hasOtherSpelling({ type, reason, nonce, payload, headers, trailers }: Partial<Frame>): boolean {
  const values = [type, reason, nonce, payload, headers, trailers];
  const spelled = JSON.stringify(values);
  return spelled !== JSON.stringify(sorted(values)) || /[<>&\u007f\u2028\u2029]|\\[bf]/.test(spelled);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): readonly [string, unknown] => [key, sorted(inner)]);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return /\p{Surrogate}/u.test(value);
  return typeof value === 'object' && value !== null && Object.entries(value).some((entry) => entry.some(hasLoneSurrogate));
}

function expectSameFrame(actual: Frame | undefined, expected: Frame): void {
  const isSame = actual !== undefined && framesEqual(actual, expected);
  expect(isSame ? 'equal' : inspect(actual, { depth: 9 })).toBe(isSame ? 'equal' : inspect(expected, { depth: 9 }));
}

function codecNamed(name: string): Codec {
  const codec = CODECS[name];
  if (codec === undefined) throw new Error(`expected a fixture for ${Object.keys(CODECS).join(' or ')}, got one for '${name}'`);
  return codec;
}

/** The cases of one file: at least `least` of them, all with different names. */
function load<T>(file: string, least: number): readonly Case<T>[] {
  const { cases } = JSON.parse(readFileSync(join(__dirname, `${file}.json`), 'utf8'), revive) as { readonly cases: readonly Case<T>[] };
  const names = new Set(cases.map(({ name }) => name));
  if (names.size < least || names.size !== cases.length)
    throw new Error(`${file}.json: expected ${least} cases or more, each with its own name`);
  return cases;
}

function revive(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const [key, ...others] = Object.keys(value);
  const inner = Object.values(value)[0] as unknown;
  if (others.length === 0 && key === '$bytes') return Uint8Array.from(Buffer.from(String(inner), 'hex')).buffer;
  if (others.length === 0 && key === '$nested') return nested(Number(inner));
  if (others.length === 0 && key === '$repeat' && Array.isArray(inner)) return String(inner[0]).repeat(Number(inner[1]));
  return value;
}

const RICH_FORMS: Readonly<Record<string, (inner: never) => unknown>> = {
  $date: (ms: number | null) => new Date(ms ?? NaN),
  $bigint: BigInt,
  $number: Number,
  $undefined: () => undefined,
  $map: (entries: readonly (readonly [unknown, unknown])[]) => new Map(entries.map(([key, value]) => [richValue(key), richValue(value)])),
  $set: (items: readonly unknown[]) => new Set(items.map(richValue)),
  $only: (value: unknown) => ({ $: richValue(value) }),
};

function richValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(richValue);
  // `load` has made an ArrayBuffer of bytes.
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (typeof value !== 'object' || value === null) return value;
  const [form = '', ...others] = Object.keys(value);
  const made = others.length === 0 && Object.hasOwn(RICH_FORMS, form) ? RICH_FORMS[form] : undefined;
  if (made !== undefined) return made((value as Record<string, never>)[form] as never);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, richValue(inner)]));
}

function nested(depth: number): unknown[] {
  return depth === 1 ? [] : [nested(depth - 1)];
}
