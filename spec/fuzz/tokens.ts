import { encode } from '@msgpack/msgpack';

/** The parts of messages. Inserted anywhere, they lead into cases that single bytes never reach. */
export type Tokens = readonly [Buffer, ...Buffer[]];

const FIELDS = ['stream', 'payload', 'fragment', 'more', 'headers', 'end', 'trailers', 'code', 'reason', 'nonce', 'last_stream'];
const TYPES = ['open', 'data', 'reset', 'ping', 'pong', 'goaway', 'window_update'];
const NUMBERS = [0, -0, 1, -1, 127, 128, 255, 256, 1_023, 65_535, 65_536, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1.5, 1e300];
const KEYS = ['__proto__', 'constructor', 'prototype', 'toJSON', '1023', '-1', ''];
const TEXTS = ['é', '€', '😀', '\u0000', '\u2028', '\ufeff', 'x'.repeat(31), 'x'.repeat(256)];

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const text = (characters: string): Buffer => Buffer.from(characters);
const msgpack = (value: unknown): Buffer => Buffer.from(encode(value));
const hex = (digits: string): Buffer => Buffer.from(digits, 'hex');

export const JSON_TOKENS: Tokens = [
  text('{'),
  ...['}', '[', ']', ',', ':', '"', '\\', ' ', 'null', 'true', 'false', '[[', '{"":', '-', '.', 'e9'].map(text),
  ...['1e400', '-1e400', '9007199254740993', '1.0', '1E+2', '"\\ud83d"', '"\\ude00\\ud83d"', '\\u0000', '\\"'].map(text),
  ...['type', ...FIELDS, ...KEYS].map((key) => text(`${JSON.stringify(key)}:`)),
  ...[...TYPES, ...TEXTS, ...NUMBERS].map(json),
];

export const MSGPACK_TOKENS: Tokens = [
  msgpack(null),
  ...[true, false, NaN, Infinity, -Infinity, new Date(0), new Date(-1.5e12), new Uint8Array(3), ...NUMBERS].map(msgpack),
  ...['type', ...FIELDS, ...KEYS, ...TYPES, ...TEXTS].map(msgpack),
  // Heads of maps, arrays, texts, bytes and extensions, with true and with false lengths.
  ...['80', '81', '8f', '90', '91', '9f', 'a0', 'a1', 'bf', 'c1', 'c400', 'c401', 'c4ff', 'c50000', 'c5ffff', 'c6ffffffff'].map(hex),
  ...['d900', 'd9ff', 'da0001', 'daffff', 'dbffffffff', 'dc0000', 'dc0001', 'dcffff', 'dd00000001', 'ddffffffff'].map(hex),
  ...['de0000', 'de0001', 'deffff', 'df00000001', 'dfffffffff', 'd4ff00', 'd6ff00000000', 'd7ffffffffffffffffff', 'c70cff', 'c700ff'].map(
    hex,
  ),
  ...['cfffffffffffffffff', 'd38000000000000000', 'cb7ff8000000000001', 'ca7fc00000', 'a3edb0a0', 'a4f7bfbfbf', 'a2c080'].map(hex),
];
