import { describe, expect } from '@jest/globals';
import { MAX_FRAME_BYTES, ResetCode } from '../../src/index.js';
import type { Codec } from '../../src/index.js';
import { encodedLength } from '../../src/wire/length.js';
import { CODECS } from '../support/codec/shipped.js';
import { bytes } from '../support/codec/values.js';
import { describeHostile, PROTOCOL, TOO_BIG, WRONG_KIND } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { cut, doubled, packed, Packed, packedMap } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';
import { checkMap, poison, unpolluted } from '../support/hostile/prototypes.js';
import { isOpen, MINE, opens } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

describe('malformed fields', () => {
  type Codec = HostileCase['codec'];
  type Bad = readonly [label: string, value: unknown, codec?: Codec];

  const BYTES = Uint8Array.of(1, 2);
  const TOO_HIGH = Number.MAX_SAFE_INTEGER + 1;

  const TRUE: Bad = ['true', true];
  const TEXT: Bad = ['text', '1'];
  const NUMBER: Bad = ['a number', 1];
  const ARRAY: Bad = ['an array', []];
  const MAP: Bad = ['a map', {}];
  const NULL: Bad = ['null', null];
  const BLOB: Bad = ['bytes', BYTES, 'msgpack'];
  const DATE: Bad = ['a date', new Date(0), 'msgpack'];
  const NAN: Bad = ['NaN', NaN, 'msgpack'];
  const INFINITE: Bad = ['Infinity', Infinity, 'msgpack'];
  const BELOW: Bad = ['-Infinity', -Infinity, 'msgpack'];
  const FRACTION: Bad = ['1.5', 1.5];

  /** Invalid values of a field, each in an otherwise valid frame. */
  const refused = (field: string, good: Envelope, bad: readonly Bad[]): HostileCase[] =>
    bad.map(([label, value, codec]) => ({
      name: `The peer ends the connection at ${label} as '${field}' of the frame ${String(good['type'])}`,
      send: [{ ...good, [field]: value }],
      expect: { ...PROTOCOL, because: field === 'stream' && (value === 0 || value === null) ? 'stream id' : `field '${field}'` },
      ...(codec === undefined ? {} : { codec }),
    }));

  const OPEN = { type: 'open', stream: 3, payload: SECRET };
  const DATA = { type: 'data', stream: 1, payload: SECRET };
  const RESET = { type: 'reset', stream: 1, code: 8 };
  const PING = { type: 'ping', nonce: 'n' };
  const GOAWAY = { type: 'goaway', code: 0, last_stream: 2 };
  const SLICE = { type: 'data', stream: 1, fragment: '"', more: true };

  const NO_FLAG = [NUMBER, ['0', 0], ['the text true', 'true'], NULL, ARRAY, MAP, BLOB] as const;
  const NO_METADATA = [ARRAY, ['an array of pairs', [['k', 'v']]], TEXT, NUMBER, TRUE, ['false', false], BLOB, DATE] as const;
  const NO_ID = [
    ['-1', -1],
    FRACTION,
    TEXT,
    TRUE,
    ARRAY,
    MAP,
    ['2^53', TOO_HIGH],
    ['-2^53', -TOO_HIGH],
    NAN,
    INFINITE,
    BELOW,
    BLOB,
  ] as const;
  const NO_TEXT = [NUMBER, TRUE, ARRAY, MAP, BLOB, DATE] as const;

  describeHostile('valid frames', [
    {
      name: 'The peer accepts the valid open',
      send: [OPEN, { ...SLICE, stream: 3, fragment: null, more: false, end: true }],
      expect: 'lives',
      handlerCalls: 1,
    },
    { name: 'The peer accepts the valid data', send: [DATA], expect: 'lives', sends: [DATA] },
    { name: 'The peer accepts the valid reset', send: [OPEN, { ...RESET, stream: 3 }], expect: 'lives', got: [[SECRET, 'RESET']] },
    { name: 'The peer accepts the valid ping', send: [PING], expect: 'lives', sends: [{ type: 'pong', nonce: 'n' }] },
    { name: 'The peer accepts the valid goaway', send: [GOAWAY], expect: 'lives' },
  ]);

  describeHostile('type', [
    ...refused('type', DATA, [NULL, NUMBER, TRUE, ARRAY, MAP, ['an array around open', ['open']], BLOB, DATE]),
    { name: 'The peer ends the connection at an envelope without a type', send: [{ stream: 1, payload: SECRET }], expect: PROTOCOL },
    { name: 'The peer ends the connection at an empty envelope', send: [{}], expect: PROTOCOL },
    ...['', 'constructor', '__proto__', 'toString', 'hasOwnProperty', 'window_update', 'OPEN', 'open ', 'ping\u0000', 'settings'].map(
      (type): HostileCase => ({
        name: `The peer ignores the unknown type ${JSON.stringify(type)} with all its fields`,
        send: [
          { type, stream: 1, payload: SECRET, end: true, headers: { h: SECRET }, trailers: { t: SECRET } },
          { type, stream: 2, fragment: SECRET, more: true, code: 8, reason: SECRET },
          { type, stream: 3, nonce: SECRET, last_stream: 0 },
          { type },
        ],
        expect: 'lives',
      }),
    ),
    {
      name: 'The peer ends the connection at an unknown type with an invalid field',
      send: [{ type: 'window_update', stream: -1 }],
      expect: PROTOCOL,
    },
  ]);

  describeHostile('stream', [
    ...refused('stream', DATA, NO_ID),
    ...refused('stream', OPEN, NO_ID),
    ...refused('stream', RESET, [['-1', -1], TEXT, ['2^53', TOO_HIGH]]),
    ...refused('stream', PING, [['-1', -1], FRACTION, TEXT]),
    ...refused('stream', GOAWAY, [MAP, TRUE]),
    ...['stream', 'code', 'last_stream'].map((field): HostileCase => ({
      name: `The peer ends the connection at 1e400 as '${field}'`,
      codec: 'json',
      send: [`{"type":"reset","${field}":1e400}`],
      expect: { ...PROTOCOL, because: `field '${field}'` },
    })),
    ...refused('stream', OPEN, [NULL, ['0', 0], ['-0', -0]]),
    { name: 'The peer ends the connection at an open without a stream', send: [{ type: 'open', payload: SECRET }], expect: PROTOCOL },
    ...[null, 0, undefined].flatMap((stream) =>
      [
        { type: 'data', payload: SECRET },
        { type: 'data', fragment: SECRET, more: true },
        { type: 'reset', code: 8 },
      ].map((frame): HostileCase => ({
        name: `The peer drops a ${frame.type}${'more' in frame ? ' fragment' : ''} with ${stream === undefined ? 'no stream' : `stream ${String(stream)}`}`,
        send: (codec) => [{ ...frame, ...('fragment' in frame && codec.binary ? { fragment: BYTES } : {}), stream }],
        expect: 'lives',
      })),
    ),
    {
      name: 'The peer ignores the stream of a ping',
      send: [{ ...PING, stream: 1 }],
      expect: 'lives',
      sends: [{ type: 'pong', nonce: 'n' }],
    },
    {
      name: 'The peer ignores an unknown stream of a ping',
      send: [{ ...PING, stream: 99 }],
      expect: 'lives',
      sends: [{ type: 'pong', nonce: 'n' }],
    },
    { name: 'The peer ignores the stream of a pong', send: [{ type: 'pong', nonce: 'n', stream: 1 }], expect: 'lives' },
    { name: 'The peer ignores the stream of a goaway', send: [{ ...GOAWAY, stream: 2 }], expect: 'lives' },
    {
      name: 'The peer reads the stream ids 3.0 and 3e0 as 3',
      codec: 'json',
      role: 'acceptor',
      send: [OPEN, '{"type":"data","stream":3.0,"payload":2}', '{"type":"data","stream":3e0,"payload":3}'],
      expect: 'lives',
      got: [[SECRET, 2, 3]],
    },
  ]);

  const BOTH = { ...PROTOCOL, because: 'got both' };

  describeHostile('payload and fragment', [
    ...[SECRET, null, 0, false, ''].map((payload): HostileCase => ({
      name: `The peer ends the connection at the payload ${JSON.stringify(payload)} beside a fragment`,
      send: (codec) => [{ type: 'data', stream: 1, payload, fragment: codec.binary ? BYTES : '1', more: true }],
      expect: BOTH,
    })),
    ...['open', 'reset', 'ping', 'pong', 'goaway', 'window_update'].map((type): HostileCase => ({
      name: `The peer ends the connection at a payload and a fragment on the frame ${type}`,
      send: [{ type, stream: 3, payload: SECRET, fragment: '1' }],
      expect: BOTH,
    })),
    { name: 'The peer ends the connection at an empty fragment beside a payload', send: [{ ...DATA, fragment: '' }], expect: BOTH },
    {
      name: 'The peer ignores a fragment of null',
      send: [{ ...OPEN, fragment: null, end: true }],
      expect: 'lives',
      got: [[SECRET, 'end']],
    },
    ...refused('fragment', SLICE, [NUMBER, TRUE, ARRAY, MAP, ['an array of bytes', [34, 34]], DATE]),
    {
      name: 'The peer ends the connection at a Buffer that was serialized to JSON',
      send: [{ ...SLICE, fragment: { type: 'Buffer', data: [34] } }],
      expect: PROTOCOL,
    },
  ]);

  describeHostile('more and end', [
    ...refused('more', SLICE, NO_FLAG),
    ...refused('end', DATA, NO_FLAG),
    ...refused('more', PING, [NUMBER, NULL]),
    ...refused('end', OPEN, [NUMBER, TEXT]),
    {
      name: 'The peer reads `more` and `end` of false like missing ones',
      send: [
        { ...OPEN, more: false, end: false },
        { type: 'data', stream: 3, payload: 1, more: false, end: false },
      ],
      expect: 'lives',
      got: [[SECRET, 1]],
    },
  ]);

  describeHostile('headers and trailers', [
    ...refused('headers', OPEN, NO_METADATA),
    ...refused('trailers', { ...DATA, end: true }, NO_METADATA),
    ...refused('headers', PING, [ARRAY, TEXT]),
    ...refused('trailers', DATA, [ARRAY]),
    {
      name: 'The peer reads headers and trailers of null like missing ones',
      send: [{ ...OPEN, headers: null, trailers: null, end: true }],
      expect: 'lives',
      got: [[SECRET, 'end']],
    },
    {
      name: 'The peer reads empty headers and trailers like missing ones',
      send: [{ ...OPEN, headers: {}, trailers: {}, end: true }],
      expect: 'lives',
      got: [[SECRET, 'end']],
    },
  ]);

  const NO_CODE = [FRACTION, TEXT, TRUE, ARRAY, MAP, NAN, INFINITE, BLOB] as const;

  describeHostile('code and last_stream', [
    ...refused('code', RESET, NO_CODE),
    ...refused('code', GOAWAY, [FRACTION, TEXT]),
    ...refused('code', PING, [TEXT]),
    ...refused('last_stream', GOAWAY, NO_ID),
    ...refused('last_stream', PING, [['-1', -1]]),
  ]);

  describeHostile('reason and nonce', [
    ...refused('reason', RESET, NO_TEXT),
    ...refused('reason', GOAWAY, [NUMBER, MAP]),
    ...refused('nonce', PING, NO_TEXT),
    ...refused('nonce', { type: 'pong' }, [NUMBER, ARRAY]),
    ...refused('nonce', DATA, [NUMBER]),
  ]);
});

describe('malformed fields messages', () => {
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
});

describe('malformed fields values', () => {
  /** Checks the cause of the peer's stream that the remote has reset. */
  const failure =
    (expected: object): Step =>
    ({ opened: [mine] }) => {
      expect(mine?.stream.cause).toMatchObject({ how: 'reset', by: 'remote', ...expected });
    };

  const kept = (what: string, fields: Record<string, unknown>, expected: object = fields, codec?: 'json' | 'msgpack'): HostileCase => ({
    name: `The caller receives a reset ${what}`,
    ...(codec === undefined ? {} : { codec }),
    send: [opens, { type: 'reset', stream: 4, ...fields }, failure(expected)],
    expect: 'lives',
    sends: [MINE],
    gotBack: [['RESET']],
  });

  const isLost: Step = (remote) => {
    remote.endSocket(1006);
  };

  describeHostile('codes', [
    ...[12_345, 4, 255, 256, -7, 0, Number.MAX_SAFE_INTEGER, 2 ** 60].map((code) => kept(`with the code ${code}`, { code })),
    kept('without a code', {}, { code: null }),
    kept('with the code null', { code: null }),
    {
      name: 'A goaway with an unknown code ends the connection one second later',
      send: [{ type: 'goaway', code: 12_345, last_stream: 2 }, 999, isOpen, 1],
      expect: { goaway: null, close: 1000 },
    },
    {
      name: 'A goaway with an unknown code leaves no timer when the socket is lost within that second',
      send: [{ type: 'goaway', code: 12_345, last_stream: 2 }, 500, isLost],
      expect: 'lost',
    },
  ]);

  const LONG = `${SECRET}${'x'.repeat(60_000)}`;
  const pings = (what: string, nonce: string, codec?: 'json' | 'msgpack'): HostileCase => ({
    name: `The peer answers a ping with a nonce ${what}`,
    ...(codec === undefined ? {} : { codec }),
    send: [{ type: 'ping', nonce }],
    expect: 'lives',
    sends: [{ type: 'pong', nonce }],
  });

  describeHostile('reasons', [
    kept('with a reason of 60 KB', { code: 8, reason: LONG }),
    kept('whose reason has a line break and an escape sequence', { code: 8, reason: `${SECRET}\r\n\u001b[31mERROR forged` }),
    kept('with half a surrogate pair as its reason', { code: 8, reason: '\ud800' }, undefined, 'json'),
    kept('with the reason null', { code: 8, reason: null }, { code: 8, reason: '' }),
    kept('whose reason looks like a format', { code: 8, reason: '%s %o %c ${1}' }),
  ]);

  describeHostile('nonces', [
    pings('of 60 KB', LONG),
    pings('of no characters', ''),
    pings('of half a surrogate pair', '\udfff', 'json'),
    pings('of NUL and line breaks', '\u0000\n\u2028'),
    pings('called __proto__', '__proto__'),
    {
      name: 'The peer answers a ping with the nonce null by a pong without one',
      send: [{ type: 'ping', nonce: null }],
      expect: 'lives',
      sends: [{ type: 'pong' }],
    },
    {
      name: 'The peer does not answer a ping whose pong would not fit a message',
      send: [{ type: 'ping', nonce: 'x'.repeat(MAX_FRAME_BYTES) }],
      expect: 'lives',
    },
    {
      name: 'The peer does not answer a ping whose pong would not fit because of its escapes',
      codec: 'json',
      send: [`{"type":"ping","nonce":"${'\\u0001'.repeat(11_000)}"}`],
      expect: 'lives',
    },
    ...CODECS.flatMap(([name, codec]): readonly HostileCase[] => {
      const most = MAX_FRAME_BYTES - (encodedLength(codec.encode({ type: 'pong', nonce: LONG })) - LONG.length);
      return [
        pings('whose pong just fits a message', 'x'.repeat(most), codec.binary ? 'msgpack' : 'json'),
        {
          name: `The peer does not answer a ping whose pong is one byte too long under ${name}`,
          codec: codec.binary ? 'msgpack' : 'json',
          send: [{ type: 'ping', nonce: 'x'.repeat(most + 1) }],
          expect: 'lives',
        },
      ];
    }),
  ]);

  const doubles =
    (...entries: readonly (readonly [string, unknown])[]): ((codec: Codec) => readonly Step[]) =>
    (codec) => [{ type: 'open', stream: 3, payload: 'first' }, doubled(codec, ...entries)];

  describeHostile('duplicate keys', [
    {
      name: 'The peer takes the last of two streams in an envelope',
      role: 'acceptor',
      send: doubles(['type', 'data'], ['stream', 1], ['stream', 3], ['payload', 2]),
      expect: 'lives',
      got: [['first', 2]],
    },
    {
      name: 'The peer takes the last of two types in an envelope',
      role: 'acceptor',
      send: doubles(['type', 'reset'], ['stream', 3], ['type', 'data'], ['payload', 2]),
      expect: 'lives',
      got: [['first', 2]],
    },
    {
      name: 'The peer takes the last of two payloads in an envelope',
      role: 'acceptor',
      send: doubles(['type', 'data'], ['stream', 3], ['payload', SECRET], ['payload', 2]),
      expect: 'lives',
      got: [['first', 2]],
    },
    {
      name: 'The peer ends the connection when the last of two streams is invalid',
      role: 'acceptor',
      send: doubles(['type', 'data'], ['stream', 3], ['stream', 'x']),
      expect: PROTOCOL,
      got: [['first']],
    },
  ]);

  const PROTO_MAP = new Packed(packedMap(['__proto__', { admin: true }]));

  describeHostile('keys called __proto__', [
    {
      name: 'The peer ignores a key __proto__ in an envelope',
      codec: 'json',
      send: [`{"type":"ping","__proto__":{"nonce":"n","type":"goaway","admin":true}}`, unpolluted],
      expect: 'lives',
      sends: [{ type: 'pong' }],
    },
    {
      name: 'An envelope does not take its type from a key __proto__',
      codec: 'json',
      send: ['{"__proto__":{"type":"ping"}}'],
      expect: PROTOCOL,
    },
    {
      name: 'The peer delivers a key __proto__ in a fragmented payload',
      codec: 'json',
      send: [
        ...cut(JSON.stringify(poison('__proto__')), 3).map((fragment, nth): Step => ({ type: 'open', stream: 3, fragment, more: nth < 2 })),
        ({ calls: [call] }) => {
          checkMap(call?.stream.payload, '__proto__');
        },
        unpolluted,
      ],
      expect: 'lives',
      handlerCalls: 1,
    },
    {
      name: 'The peer ends the connection at a key __proto__ in an envelope under msgpack',
      codec: 'msgpack',
      send: [bytes(packedMap(['type', 'ping'], ['__proto__', { type: 'goaway' }]))],
      expect: PROTOCOL,
    },
  ]);

  const inMap = (key: unknown, where = 'payload'): ArrayBuffer =>
    bytes(packedMap(['type', 'open'], ['stream', 3], [where, new Packed(packedMap([key, SECRET], ['1', 2]))]));

  describeHostile('keys of msgpack maps', [
    ...(['headers', 'trailers'] as const).map((where): HostileCase => ({
      name: `The peer ends the connection at a number as a key of ${where}`,
      codec: 'msgpack',
      role: 'acceptor',
      send: [inMap(7, where)],
      expect: PROTOCOL,
    })),
    {
      name: 'The peer delivers a number as a key of a payload as text',
      codec: 'msgpack',
      role: 'acceptor',
      send: [
        bytes(packedMap(['type', 'open'], ['stream', 3], ['payload', new Packed(packedMap([7, SECRET], ['k', 2]))])),
        (remote) => void (remote.highest = 3),
      ],
      expect: 'lives',
      got: [[{ 7: SECRET, k: 2 }]],
    },
    ...[1, 1.5, null, true, Uint8Array.of(1), new Date(0)].map((key): HostileCase => ({
      name: `The peer ends the connection at a map key of ${key instanceof Uint8Array ? 'bytes' : key instanceof Date ? 'a date' : String(key)}${key === 1 ? ' beside its numeral' : ''}`,
      codec: 'msgpack',
      role: 'acceptor',
      send: [inMap(key)],
      expect: PROTOCOL,
    })),
    {
      name: 'The peer resets a stream for a map key __proto__ in a fragmented payload',
      codec: 'msgpack',
      send: cut(bytes(PROTO_MAP.bytes), 2).map((fragment, nth): Step => ({ type: 'open', stream: 3, fragment, more: nth === 0 })),
      expect: 'lives',
      resets: [[3, ResetCode.PROTOCOL_ERROR]],
    },
  ]);
});
