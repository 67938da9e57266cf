import { describeHostile, PROTOCOL, TOO_BIG, WRONG_KIND } from '../support/hostile/case.js';
import type { HostileCase } from '../support/hostile/case.js';
import { bytes, packed, packedMap } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';

const PING = '{"type":"ping"}';
const PACKED_PING = packed({ type: 'ping' });
const MIB = 1024 * 1024;

const refused = (codec: 'json' | 'msgpack', rows: readonly (readonly [what: string, message: string | ArrayBuffer])[]): HostileCase[] =>
  rows.map(([what, message]) => ({ name: `ends the connection over ${what}`, codec, send: [message], expect: PROTOCOL }));

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describeHostile('a whole message of text', [
  ...refused('json', [
    ['an empty one', ''],
    ['white space', ' \n'],
    ['a word', SECRET],
    ['a NUL', '\u0000'],
    ['one cut short', PING.slice(0, -1)],
    ['one with text behind it', `${PING}${SECRET}`],
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
    ['a comma too many', '{"type":"ping",}'],
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
    ['nothing but 65 535 brackets', '['.repeat(65_535)],
    ['a formatted envelope that lacks its end', '{\n  "type": "ping"\n'],
  ]),
  {
    name: 'with white space between its tokens is good',
    codec: 'json',
    send: [' {\n\t"type" : "ping" }\r\n'],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
  {
    name: 'with keys that nobody knows is good',
    codec: 'json',
    send: ['{"later":[1,{"deep":{}}],"type":"ping","Type":1,"streams":-1}'],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
  {
    name: 'with a payload of 256 levels is good',
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

describeHostile('a whole message of bytes', [
  ...refused('msgpack', [
    ['an empty one', bytes()],
    ['the byte that msgpack never uses', bytes(0xc1)],
    ['one cut short', bytes(PACKED_PING.subarray(0, -1))],
    ['one cut behind its first key', bytes(PACKED_PING.subarray(0, 6))],
    ['one with a byte behind it', bytes(PACKED_PING, 0xc0)],
    ['two envelopes', bytes(PACKED_PING, PACKED_PING)],
    ['a list of envelopes', bytes(0x91, PACKED_PING)],
    ['an empty array', bytes(0x90)],
    ['a text', bytes(packed(SECRET))],
    ['bytes', bytes(packed(Uint8Array.of(1)))],
    ['nil', bytes(0xc0)],
    ['true', bytes(0xc3)],
    ['a number', bytes(0x01)],
    ['a date', bytes(packed(new Date(0)))],
    ['an extension that nobody knows', bytes(0xd4, 0x05, 0x00)],
    ['a map that declares more than it has', bytes(0x82, PACKED_PING.subarray(1))],
    ['a map that declares less than it has', bytes(0x80, PACKED_PING.subarray(1))],
    ['an envelope of JSON', new TextEncoder().encode(PING).buffer],
    ['5 bytes that declare an array of 2^32 - 1', bytes(...array32(0xffffffff))],
    ['5 bytes that declare a map of 2^32 - 1', bytes(...map32(0xffffffff))],
    ['5 bytes that declare a text of 2^32 - 1', bytes(0xdb, ...bigEndian(0xffffffff))],
    ['5 bytes that declare bytes of 2^32 - 1', bytes(0xc6, ...bigEndian(0xffffffff))],
    ['a payload that declares 30 000 000 items', withPayload(...array32(30_000_000))],
    [
      '20 arrays within each other that declare 30 000 000 items each',
      withPayload(...Array.from({ length: 20 }, () => array32(30_000_000)).flat()),
    ],
    ['12 000 arrays that declare 4 096 items each', withPayload(...Array.from({ length: 12_000 }, () => array32(4_096)).flat())],
    ['a payload of 96 levels', bytes(0x82, packed('type'), packed('ping'), packed('payload'), ...Array<number>(95).fill(0x91), 0x90)],
    ['65 535 arrays around nothing', nestedArrays(65_535, 0xc0)],
    ['a payload with an unknown extension', withPayload(0xc7, 0x01, 0x07, 0x00)],
    ['a payload with a date beyond all dates', withPayload(0xc7, 0x0c, 0xff, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)],
    ['a key of the envelope that is a number', bytes(packedMap(['type', 'ping'], [7, 1]))],
    ['a key that is nil', bytes(packedMap(['type', 'ping'], [null, 1]))],
    ['a key that is true', bytes(packedMap(['type', 'ping'], [true, 1]))],
    ['a key that is a fraction', bytes(packedMap(['type', 'ping'], [1.5, 1]))],
    ['a key that is bytes', bytes(packedMap(['type', 'ping'], [Uint8Array.of(1), 1]))],
    ['a key that is an array', bytes(packedMap(['type', 'ping'], [[], 1]))],
  ]),
  {
    name: 'with keys that nobody knows is good',
    codec: 'msgpack',
    send: [bytes(packedMap(['later', [1, { deep: {} }]], ['type', 'ping'], ['streams', -1]))],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
  {
    name: 'with lengths wider than they have to be is good',
    codec: 'msgpack',
    send: [bytes(...map32(1), 0xdb, 0, 0, 0, 4, ...new TextEncoder().encode('type'), 0xda, 0, 4, ...new TextEncoder().encode('ping'))],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
]);

describeHostile('the kind of a message', [
  ...[PING, '', SECRET, String.fromCharCode(...PACKED_PING)].map((message): HostileCase => ({
    name: `text under a binary codec, ${message.length} characters, ends the connection before it is decoded`,
    codec: 'msgpack',
    send: [message],
    expect: WRONG_KIND,
  })),
  ...[new TextEncoder().encode(PING).buffer, bytes(), bytes(PACKED_PING)].map((message): HostileCase => ({
    name: `bytes under a text codec, ${message.byteLength} of them, end the connection before they are decoded`,
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

describeHostile('the size of a message', [
  { name: '1 MiB is good', send: ({ binary }) => [sized(binary, MIB)], expect: 'lives' },
  { name: 'a byte more ends the connection', send: ({ binary }) => [sized(binary, MIB + 1)], expect: TOO_BIG },
  { name: '4 MiB end the connection', send: ({ binary }) => [sized(binary, 4 * MIB)], expect: TOO_BIG },
  {
    name: 'counts in bytes, not in characters',
    codec: 'json',
    send: [JSON.stringify({ type: 'later', payload: '€'.repeat(MIB / 3) })],
    expect: TOO_BIG,
  },
]);
