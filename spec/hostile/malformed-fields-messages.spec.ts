import { bytes } from '../support/codec/values.js';
import { describeHostile, PROTOCOL, TOO_BIG, WRONG_KIND } from '../support/hostile/case.js';
import type { HostileCase } from '../support/hostile/case.js';
import { packed, packedMap } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';

const PING = '{"type":"ping"}';
const PACKED_PING = packed({ type: 'ping' });
const MIB = 1024 * 1024;

const refused = (codec: 'json' | 'msgpack', rows: readonly (readonly [what: string, message: string | ArrayBuffer])[]): HostileCase[] =>
  rows.map(([what, message]) => ({ name: `The peer ends the connection at ${what}`, codec, send: [message], expect: PROTOCOL }));

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describeHostile('text messages', [
  ...refused('json', [
    ['an empty message', ''],
    ['white space', ' \n'],
    ['a word', SECRET],
    ['a NUL', '\u0000'],
    ['a truncated envelope', PING.slice(0, -1)],
    ['an envelope with text behind it', `${PING}${SECRET}`],
    ['two envelopes', `${PING}${PING}`],
    ['a list of envelopes', `[${PING}]`],
    ['an empty array', '[]'],
    ['a text', `"${SECRET}"`],
    ['null', 'null'],
    ['true', 'true'],
    ['a number', '1'],
    ['a byte-order mark before an envelope', `\ufeff${PING}`],
    ['an envelope in single quotes', PING.replaceAll('"', "'")],
    ['a key without quotes', '{type:"ping"}'],
    ['a trailing comma', '{"type":"ping",}'],
    ['a comment', `{"type":"ping"/*${SECRET}*/}`],
    ['NaN', '{"type":"ping","code":NaN}'],
    ['a number with leading zeros', '{"type":"ping","code":01}'],
    ['a hexadecimal number', '{"type":"ping","code":0x1}'],
    ['a line break within a text', `{"type":"ping","nonce":"a\n"}`],
    ['a bad escape', '{"type":"ping","nonce":"\\x41"}'],
    ['half an escape', '{"type":"ping","nonce":"\\u12"}'],
    ['a payload of 257 levels', `{"type":"open","stream":3,"payload":${deep(257)}}`],
    ['headers of 257 levels', `{"type":"open","stream":3,"headers":{"h":${deep(256)}}}`],
    ['an unknown key of 60 000 levels', `{"type":"ping","later":${deep(30_000)}}`],
    ['65 535 opening brackets alone', '['.repeat(65_535)],
    ['a truncated envelope with line breaks', '{\n  "type": "ping"\n'],
  ]),
  {
    name: 'The peer accepts white space between tokens',
    codec: 'json',
    send: [' {\n\t"type" : "ping" }\r\n'],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
  {
    name: 'The peer accepts unknown keys under json',
    codec: 'json',
    send: ['{"later":[1,{"deep":{}}],"type":"ping","Type":1,"streams":-1}'],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
  {
    name: 'The peer accepts a payload of 256 levels',
    codec: 'json',
    role: 'acceptor',
    send: [{ type: 'open', stream: 3, payload: JSON.parse(deep(256)) as unknown }],
    expect: 'lives',
    handlerCalls: 1,
  },
]);

const nestedArrays = (levels: number, innermost: number): ArrayBuffer => bytes(...Array<number>(levels).fill(0x91), innermost);
const array32 = (declared: number): number[] => [0xdd, ...bigEndian(declared)];
const map32 = (declared: number): number[] => [0xdf, ...bigEndian(declared)];
const withPayload = (...payload: readonly number[]): ArrayBuffer =>
  bytes(0x82, packed('type'), packed('ping'), packed('payload'), ...payload);

function bigEndian(value: number): number[] {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);
}

describeHostile('binary messages', [
  ...refused('msgpack', [
    ['an empty message', bytes()],
    ['the byte that msgpack never uses', bytes(0xc1)],
    ['a truncated envelope', bytes(PACKED_PING.subarray(0, -1))],
    ['an envelope truncated after its first key', bytes(PACKED_PING.subarray(0, 6))],
    ['an envelope with a byte behind it', bytes(PACKED_PING, 0xc0)],
    ['two envelopes', bytes(PACKED_PING, PACKED_PING)],
    ['a list of envelopes', bytes(0x91, PACKED_PING)],
    ['an empty array', bytes(0x90)],
    ['a text', bytes(packed(SECRET))],
    ['bytes', bytes(packed(Uint8Array.of(1)))],
    ['nil', bytes(0xc0)],
    ['true', bytes(0xc3)],
    ['a number', bytes(0x01)],
    ['a date', bytes(packed(new Date(0)))],
    ['an unknown extension', bytes(0xd4, 0x05, 0x00)],
    ['a map that declares too many entries', bytes(0x82, PACKED_PING.subarray(1))],
    ['a map that declares too few entries', bytes(0x80, PACKED_PING.subarray(1))],
    ['an envelope of JSON', new TextEncoder().encode(PING).buffer],
    ['5 bytes that declare an array of 2^32 - 1 items', bytes(...array32(0xffffffff))],
    ['5 bytes that declare a map of 2^32 - 1 entries', bytes(...map32(0xffffffff))],
    ['5 bytes that declare a text of 2^32 - 1 bytes', bytes(0xdb, ...bigEndian(0xffffffff))],
    ['5 bytes that declare 2^32 - 1 bytes', bytes(0xc6, ...bigEndian(0xffffffff))],
    ['a payload that declares 30 000 000 items', withPayload(...array32(30_000_000))],
    ['20 nested arrays that declare 30 000 000 items each', withPayload(...Array.from({ length: 20 }, () => array32(30_000_000)).flat())],
    ['12 000 arrays that declare 4 096 items each', withPayload(...Array.from({ length: 12_000 }, () => array32(4_096)).flat())],
    ['a payload of 96 levels', bytes(0x82, packed('type'), packed('ping'), packed('payload'), ...Array<number>(95).fill(0x91), 0x90)],
    ['65 535 nested arrays around nil', nestedArrays(65_535, 0xc0)],
    ['a payload with an unknown extension', withPayload(0xc7, 0x01, 0x07, 0x00)],
    [
      'a payload with a date beyond the range of Date',
      withPayload(0xc7, 0x0c, 0xff, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
    ],
    ['a key of the envelope that is a number', bytes(packedMap(['type', 'ping'], [7, 1]))],
    ['a key that is nil', bytes(packedMap(['type', 'ping'], [null, 1]))],
    ['a key that is true', bytes(packedMap(['type', 'ping'], [true, 1]))],
    ['a key that is a fraction', bytes(packedMap(['type', 'ping'], [1.5, 1]))],
    ['a key that is bytes', bytes(packedMap(['type', 'ping'], [Uint8Array.of(1), 1]))],
    ['a key that is an array', bytes(packedMap(['type', 'ping'], [[], 1]))],
  ]),
  {
    name: 'The peer accepts unknown keys under msgpack',
    codec: 'msgpack',
    send: [bytes(packedMap(['later', [1, { deep: {} }]], ['type', 'ping'], ['streams', -1]))],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
  {
    name: 'The peer accepts lengths that are encoded wider than necessary',
    codec: 'msgpack',
    send: [bytes(...map32(1), 0xdb, 0, 0, 0, 4, ...new TextEncoder().encode('type'), 0xda, 0, 4, ...new TextEncoder().encode('ping'))],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
]);

describeHostile('kinds of messages', [
  ...[PING, '', SECRET, String.fromCharCode(...PACKED_PING)].map((message): HostileCase => ({
    name: `The peer ends the connection at ${message.length} characters of text under a binary codec, and decodes none`,
    codec: 'msgpack',
    send: [message],
    expect: WRONG_KIND,
  })),
  ...[new TextEncoder().encode(PING).buffer, bytes(), bytes(PACKED_PING)].map((message): HostileCase => ({
    name: `The peer ends the connection at ${message.byteLength} bytes under a text codec, and decodes none`,
    codec: 'json',
    send: [message],
    expect: WRONG_KIND,
  })),
]);

/** An envelope that takes exactly `size` bytes. */
const sized = (binary: boolean, size: number): string | ArrayBuffer => {
  const envelope = (length: number) => ({ type: 'later', payload: 'x'.repeat(length) });
  const write = (length: number) => (binary ? bytes(packed(envelope(length))) : JSON.stringify(envelope(length)));
  const whole = write(size);
  return write(2 * size - (typeof whole === 'string' ? whole.length : whole.byteLength));
};

describeHostile('sizes of messages', [
  { name: 'The peer accepts a message of 1 MiB', send: ({ binary }) => [sized(binary, MIB)], expect: 'lives' },
  {
    name: 'The peer ends the connection at a message of one byte more than 1 MiB',
    send: ({ binary }) => [sized(binary, MIB + 1)],
    expect: TOO_BIG,
  },
  { name: 'The peer ends the connection at a message of 4 MiB', send: ({ binary }) => [sized(binary, 4 * MIB)], expect: TOO_BIG },
  {
    name: 'The peer measures a message in bytes and not in characters',
    codec: 'json',
    send: [JSON.stringify({ type: 'later', payload: '€'.repeat(MIB / 3) })],
    expect: TOO_BIG,
  },
]);
