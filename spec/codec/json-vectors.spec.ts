import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { failureOf } from '../support/codec/values.js';

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
