import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseJson, quote } from '../../src/codec/json-text.js';
import { decodeCanonical, JsonCodec } from '../../src/codec/json.js';
import type { Metadata } from '../../src/wire/frame.js';
import { fromMapping } from '../../src/wire/mapping.js';
import { failureOf, nested } from '../support/codec/values.js';
import fc from '../support/fast-check.js';
import { awkwardText, frames, jsonPayload } from '../support/wire/arbitraries.js';

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

/** Lengths around the limit of a long text and around the size of a piece; the last exceeds every buffer. */
const LENGTHS = [0, 1, 1_023, 1_024, 1_025, 1_026, 1_027, 1_028, 8_191, 8_192, 8_193, 30_001];

/** A text of `length` units with `part` at one place. */
const textWith = (part: string, at: number, length: number): string => 'x'.repeat(at) + part + 'x'.repeat(length - at - part.length);

describe('quote and parseJson', () => {
  it.each(LENGTHS)('`quote` keeps a text without escapes unchanged: %i units', (length) => {
    const text = 'a b'.repeat(length).slice(0, length);
    expect(quote(text)).toBe(`"${text}"`);
    expect(parseJson(`"${text}"`)).toBe(text);
  });

  const PARTS: readonly [string, string][] = [
    ['a quote', '"'],
    ['a backslash', '\\'],
    ['the first control character', '\u0000'],
    ['the last control character', '\u001f'],
    ['a line feed', '\n'],
    ['a space, the first character after the control characters', ' '],
    ['a delete, which JSON does not escape', '\u007f'],
    ['a character of two bytes', 'é'],
    ['a character of three bytes', '€'],
    ['a pair of surrogates', '😀'],
    ['the first half of a pair', '\ud83d'],
    ['the second half of a pair', '\ude00'],
    ['a line separator', '\u2028'],
  ];

  it.each(PARTS)('`quote` writes a text as JSON.stringify does, and `parseJson` reads it back: %s', (_what, part) => {
    for (const length of LENGTHS.filter((length) => length >= part.length)) {
      for (const at of new Set([0, 1, 2, 3, 1_024, 8_191, 8_192, length - 4, length - part.length])) {
        if (at < 0 || at + part.length > length) continue;
        const text = textWith(part, at, length);
        const json = JSON.stringify(text);
        expect({ at, length, is: quote(text) === json }).toEqual({ at, length, is: true });
        expect({ at, length, is: parseJson(json) === text }).toEqual({ at, length, is: true });
      }
    }
  });

  it('`quote` writes a text correctly after a longer one', () => {
    const lines = '\n'.repeat(9_000);
    for (const length of LENGTHS) {
      expect(quote(lines)).toBe(JSON.stringify(lines));
      expect(quote('x'.repeat(length))).toBe(`"${'x'.repeat(length)}"`);
    }
  });

  it('`quote` writes random texts as JSON.stringify does', () => {
    fc.assert(
      fc.property(awkwardText(40), fc.constantFrom(...LENGTHS), (text, length) => {
        const long = 'x'.repeat(length) + text + 'x'.repeat(length);
        expect(quote(long)).toBe(JSON.stringify(long));
        expect(parseJson(JSON.stringify(long))).toBe(long);
      }),
      SEED,
    );
  });
});

describe('parseJson of long texts', () => {
  const x = 'x'.repeat(2_000);

  it.each([
    ['two strings', `"${x}","${x}"`],
    ['no quote before it', `${x}"`],
    ['no quote after it', `"${x}`],
    ['no quotes', x],
    ['a raw control character', `"${x}\n"`],
    ['an unescaped quote', `"${x}"${x}"`],
    ['a backslash before the last quote', `"${x}\\"`],
    ['an unknown escape', `"${x}\\x"`],
  ])('`parseJson` refuses what JSON.parse refuses: %s', (_what, json) => {
    expect(() => parseJson(json)).toThrow(SyntaxError);
  });

  it.each([
    ['space around it', ` "${x}"`, x],
    ['space behind it', `"${x}" `, x],
    ['escapes', `"${x}\\u0041\\/"`, `${x}A/`],
    ['an unescaped lone surrogate', `"${x}\ud83d"`, `${x}\ud83d`],
    ['an object', `{"a":"${x}"}`, { a: x }],
    ['a list of strings', `["${x}"]`, [x]],
  ])('`parseJson` reads a text as JSON.parse does: %s', (_what, json, value) => {
    expect(parseJson(json)).toEqual(value);
  });
});

const codec = new JsonCodec();

// Decoded as a WebSocket decodes text, except that a WebSocket fails the connection for bytes that are not UTF-8.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

const encoded = JSON.parse(readFileSync(join(__dirname, '../support/codec/json-vectors/vectors.json'), 'utf8')) as Record<string, string>;
const vectors = Object.entries(encoded).map(([name, base64]): [string, string] => [name, utf8.decode(Buffer.from(base64, 'base64'))]);
const startingWith = (prefix: string): [string, string][] => vectors.filter(([name]) => name.startsWith(prefix));

describe('JsonCodec.decodePayload against JSONTestSuite', () => {
  it('JSONTestSuite is here in full', () => {
    expect(['y_', 'n_', 'i_'].map((prefix) => startingWith(prefix).length)).toEqual([95, 186, 35]);
  });

  it.each(startingWith('y_'))('JsonCodec accepts %s as JSON.parse does', (_name, text) => {
    expect(codec.decodePayload(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ...startingWith('n_'),
    ['n_structure_100000_opening_arrays', '['.repeat(100_000)],
    ['n_structure_open_array_object', `${'[{"":'.repeat(50_000)}\n`],
  ])('JsonCodec refuses %s with a ProtocolError', (_name, text) => {
    expect(failureOf(() => codec.decodePayload(text))).toBe(
      `ProtocolError: codec 'json': expected JSON, got ${text.length} characters that are not`,
    );
  });

  it.each(startingWith('i_'))('JsonCodec accepts %s or refuses it with a ProtocolError', (_name, text) => {
    expect(failureOf(() => codec.decodePayload(text))).toMatch(/^(returns$|ProtocolError: )/);
  });
});

describe('canonical messages', () => {
  const codec = new JsonCodec();
  const MAX_DEPTH = 256;
  const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

  /** No headers, flat ones, and others. */
  const headers = (): fc.Arbitrary<Metadata | null> =>
    fc.option(fc.oneof(fc.dictionary(awkwardText(5), awkwardText(9)), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))));

  /** Parses a message as a whole; returns `null` for a refused one. */
  function parsedWhole(message: string): unknown {
    try {
      return fromMapping(JSON.parse(message));
    } catch {
      return null;
    }
  }

  it.each([
    ['data', '{"type":"data","stream":1,"payload":"hi"}'],
    ['data with an end', '{"type":"data","stream":12345,"end":true,"payload":{"a":[1,{"b":null}]}}'],
    ['a stream with zeros', '{"type":"data","stream":1020,"payload":[]}'],
    ['an open', '{"type":"open","stream":3,"end":true,"payload":null}'],
    ['the largest canonical stream id', '{"type":"data","stream":999999999999999,"payload":0}'],
    ['a payload that looks like the end of an envelope', '{"type":"data","stream":1,"payload":"}"}'],
    ['space around the payload', '{"type":"data","stream":1,"payload": [1] }'],
    ['headers', '{"type":"open","stream":1,"end":true,"headers":{"trace":"t1"},"payload":1}'],
    ['headers of data', '{"type":"data","stream":1,"headers":{"a":1,"b":null},"payload":"hi"}'],
    ['headers without entries', '{"type":"open","stream":1,"end":true,"headers":{},"payload":1}'],
    ['headers with escapes', String.raw`{"type":"open","stream":1,"headers":{"\u0061":"\",\"payload\":"},"payload":1}`],
    ['headers with a text like their end', String.raw`{"type":"open","stream":1,"headers":{"a":"},\"payload\":"},"payload":1}`],
    ['headers with containers', '{"type":"open","stream":1,"headers":{"a":[{"b":{}}]},"payload":[]}'],
    ['headers with a key twice', '{"type":"open","stream":1,"headers":{"a":1,"a":2},"payload":0}'],
    ['headers with the key __proto__', '{"type":"open","stream":1,"headers":{"__proto__":1},"payload":0}'],
    ['space around headers', '{"type":"open","stream":1,"headers":{ "a" : 1 },"payload":0}'],
    ['a payload that looks like the end of headers', '{"type":"open","stream":1,"headers":{},"payload":{"a":{},"payload":1}}'],
    ['a payload with the keys of an envelope', '{"type":"data","stream":1,"payload":{"end":true,"payload":1}}'],
  ])('`decodeCanonical` reads a message as a whole parse does: %s', (_what, message) => {
    const frame = decodeCanonical(message, MAX_DEPTH);
    expect(frame).toEqual(parsedWhole(message));
    expect(Object.keys(frame ?? {})).toEqual(Object.keys(fromMapping({ type: 'data' })));
  });

  it.each([
    ['another type of the same length', '{"type":"pong","stream":1,"payload":1}'],
    ['another type', '{"type":"reset","stream":1,"payload":1}'],
    ['another order', '{"stream":1,"type":"data","payload":1}'],
    ['a stream without digits', '{"type":"data","stream":,"payload":1}'],
    ['no stream', '{"type":"data","payload":1}'],
    ['stream 0', '{"type":"data","stream":0,"payload":1}'],
    ['a leading zero', '{"type":"data","stream":01,"payload":1}'],
    ['a negative stream', '{"type":"data","stream":-1,"payload":1}'],
    ['a stream with a fraction', '{"type":"data","stream":1.5,"payload":1}'],
    ['a stream with an exponent', '{"type":"data","stream":1e3,"payload":1}'],
    ['a stream of 16 digits', '{"type":"data","stream":1000000000000000,"payload":1}'],
    ['a stream that is no number', '{"type":"data","stream":null,"payload":1}'],
    ['an end that is false', '{"type":"data","stream":1,"end":false,"payload":1}'],
    ['headers that are null', '{"type":"open","stream":1,"headers":null,"payload":1}'],
    ['headers that are an array', '{"type":"open","stream":1,"headers":[],"payload":1}'],
    ['headers that are no JSON', '{"type":"open","stream":1,"headers":{"a":},"payload":1}'],
    ['headers with an inner key like the payload', '{"type":"open","stream":1,"headers":{"a":{},"payload":1}}'],
    ['headers that do not end', '{"type":"open","stream":1,"headers":{"a":{},"payload":1},"payload":2}'],
    ['headers without a payload', '{"type":"open","stream":1,"headers":{"a":1}}'],
    ['headers twice', '{"type":"open","stream":1,"headers":{"a":1},"headers":{"a":1},"payload":1}'],
    ['a field between headers and payload', '{"type":"open","stream":1,"headers":{"a":1},"nonce":"n","payload":1}'],
    ['space before the payload', '{"type":"open","stream":1,"headers":{"a":1} ,"payload":1}'],
    ['headers and trailers', '{"type":"data","stream":1,"end":true,"headers":{},"payload":1,"trailers":{}}'],
    ['trailers behind the payload', '{"type":"data","stream":1,"end":true,"payload":1,"trailers":{}}'],
    ['a second payload', '{"type":"data","stream":1,"payload":1,"payload":2}'],
    ['a payload that is cut off', '{"type":"data","stream":1,"payload":{"a":1}'],
    ['no payload', '{"type":"data","stream":1,"payload":}'],
    ['text after the message', '{"type":"data","stream":1,"payload":1} '],
    ['a missing closing brace', '{"type":"data","stream":1,"payload":1'],
    ['a missing closing brace after a number', '{"type":"data","stream":1,"payload":12'],
    ['nothing but the beginning', '{"type":"data","stream":'],
    ['a fragment', '{"type":"data","stream":1,"end":true,"fragment":"1"}'],
    ['the empty text', ''],
  ])('`decodeCanonical` returns null for %s', (_what, message) => {
    expect(decodeCanonical(message, MAX_DEPTH)).toBeNull();
  });

  it('`decodeCanonical` returns null for a payload that is too deep', () => {
    const message = (levels: number): string =>
      `{"type":"data","stream":1,"payload":${JSON.stringify(nested(levels, (inner) => [inner]))}}`;
    expect(decodeCanonical(message(MAX_DEPTH), MAX_DEPTH)).not.toBeNull();
    expect(decodeCanonical(message(MAX_DEPTH + 1), MAX_DEPTH)).toBeNull();
    expect(() => codec.decode(message(MAX_DEPTH + 1))).toThrow('expected at most 256 levels of nesting, got more');
  });

  it('`decodeCanonical` returns null for headers that are too deep', () => {
    const message = (levels: number): string =>
      `{"type":"data","stream":1,"headers":${JSON.stringify(nested(levels, (a) => ({ a })))},"payload":1}`;
    expect(decodeCanonical(message(MAX_DEPTH), MAX_DEPTH)).not.toBeNull();
    expect(decodeCanonical(message(MAX_DEPTH + 1), MAX_DEPTH)).toBeNull();
    expect(() => codec.decode(message(MAX_DEPTH + 1))).toThrow('expected at most 256 levels of nesting, got more');
  });

  it('JsonCodec decodes random canonical messages as a whole parse does', () => {
    fc.assert(
      fc.property(jsonPayload(), fc.integer({ min: 1, max: 2 ** 53 - 1 }), fc.boolean(), headers(), (payload, stream, end, given) => {
        const message = codec.encode({ type: end ? 'open' : 'data', stream, end, payload, headers: given });
        expect(codec.decode(message)).toEqual(parsedWhole(message));
      }),
      SEED,
    );
  });

  it('`decodeCanonical` reads damaged messages as a whole parse does, or returns null', () => {
    const damaged = fc
      .tuple(
        fc.oneof(
          frames(jsonPayload()),
          fc.record({ type: fc.constant('data'), end: fc.boolean(), headers: headers(), payload: jsonPayload() }),
        ),
        fc.nat(),
        fc.nat(8),
        fc.oneof(awkwardText(), fc.constantFrom('"', '}', ',', '1', '0', '\\', ' ')),
      )
      .map(([frame, at, cut, put]) => {
        const message = codec.encode({ ...frame, type: 'data', stream: 7 });
        const from = at % (message.length + 1);
        return message.slice(0, from) + put + message.slice(from + cut);
      });
    fc.assert(
      fc.property(damaged, (message) => {
        const frame = decodeCanonical(message, MAX_DEPTH);
        if (frame !== null) expect(frame).toEqual(parsedWhole(message));
      }),
      { ...SEED, numRuns: 2_000 },
    );
  });
});
