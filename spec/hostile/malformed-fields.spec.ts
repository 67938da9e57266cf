import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase } from '../support/hostile/case.js';
import { SECRET } from '../support/hostile/peer.js';
import type { Envelope } from '../support/peer/frames.js';

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

/** The values that a field does not take, each in a frame that is good but for it. */
const refused = (field: string, good: Envelope, bad: readonly Bad[]): HostileCase[] =>
  bad.map(([label, value, codec]) => ({
    name: `${label} as '${field}' of a ${String(good['type'])} ends the connection`,
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
const NO_ID = [['-1', -1], FRACTION, TEXT, TRUE, ARRAY, MAP, ['2^53', TOO_HIGH], ['-2^53', -TOO_HIGH], NAN, INFINITE, BELOW, BLOB] as const;
const NO_TEXT = [NUMBER, TRUE, ARRAY, MAP, BLOB, DATE] as const;

describeHostile('the frames that the bad values are put in', [
  {
    name: 'live as they are',
    send: [OPEN, { ...SLICE, stream: 3, fragment: null, more: false, end: true }],
    expect: 'lives',
    handlerCalls: 1,
  },
  { name: 'live as data', send: [DATA], expect: 'lives', sends: [DATA] },
  { name: 'live as a reset', send: [OPEN, { ...RESET, stream: 3 }], expect: 'lives', got: [[SECRET, 'RESET']] },
  { name: 'live as a ping', send: [PING], expect: 'lives', sends: [{ type: 'pong', nonce: 'n' }] },
  { name: 'live as a goaway', send: [GOAWAY], expect: 'lives' },
]);

describeHostile('type', [
  ...refused('type', DATA, [NULL, NUMBER, TRUE, ARRAY, MAP, ['an array around open', ['open']], BLOB, DATE]),
  { name: 'none at all ends the connection', send: [{ stream: 1, payload: SECRET }], expect: PROTOCOL },
  { name: 'an envelope without any key ends the connection', send: [{}], expect: PROTOCOL },
  ...['', 'constructor', '__proto__', 'toString', 'hasOwnProperty', 'window_update', 'OPEN', 'open ', 'ping\u0000', 'settings'].map(
    (type): HostileCase => ({
      name: `unknown, ${JSON.stringify(type)}, is ignored with all that it carries`,
      send: [
        { type, stream: 1, payload: SECRET, end: true, headers: { h: SECRET }, trailers: { t: SECRET } },
        { type, stream: 2, fragment: SECRET, more: true, code: 8, reason: SECRET },
        { type, stream: 3, nonce: SECRET, last_stream: 0 },
        { type },
      ],
      expect: 'lives',
    }),
  ),
  { name: 'unknown beside a bad field ends the connection', send: [{ type: 'window_update', stream: -1 }], expect: PROTOCOL },
]);

describeHostile('stream', [
  ...refused('stream', DATA, NO_ID),
  ...refused('stream', OPEN, NO_ID),
  ...refused('stream', RESET, [['-1', -1], TEXT, ['2^53', TOO_HIGH]]),
  ...refused('stream', PING, [['-1', -1], FRACTION, TEXT]),
  ...refused('stream', GOAWAY, [MAP, TRUE]),
  ...['stream', 'code', 'last_stream'].map((field): HostileCase => ({
    name: `1e400 as '${field}' ends the connection`,
    codec: 'json',
    send: [`{"type":"reset","${field}":1e400}`],
    expect: { ...PROTOCOL, because: `field '${field}'` },
  })),
  ...refused('stream', OPEN, [NULL, ['0', 0], ['-0', -0]]),
  { name: 'none on an open ends the connection', send: [{ type: 'open', payload: SECRET }], expect: PROTOCOL },
  ...[null, 0, undefined].flatMap((stream) =>
    [
      { type: 'data', payload: SECRET },
      { type: 'data', fragment: SECRET, more: true },
      { type: 'reset', code: 8 },
    ].map((frame): HostileCase => ({
      name: `${stream === undefined ? 'none' : String(stream)} on a ${frame.type}${'more' in frame ? ' in fragments' : ''} is dropped`,
      send: (codec) => [{ ...frame, ...('fragment' in frame && codec.binary ? { fragment: BYTES } : {}), stream }],
      expect: 'lives',
    })),
  ),
  { name: 'on a ping is ignored', send: [{ ...PING, stream: 1 }], expect: 'lives', sends: [{ type: 'pong', nonce: 'n' }] },
  { name: 'of no stream on a ping is ignored', send: [{ ...PING, stream: 99 }], expect: 'lives', sends: [{ type: 'pong', nonce: 'n' }] },
  { name: 'on a pong is ignored', send: [{ type: 'pong', nonce: 'n', stream: 1 }], expect: 'lives' },
  { name: 'on a goaway is ignored', send: [{ ...GOAWAY, stream: 2 }], expect: 'lives' },
  {
    name: 'spelled 3.0 is an id as 3 is',
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
    name: `${JSON.stringify(payload)} as a payload beside a fragment ends the connection`,
    send: (codec) => [{ type: 'data', stream: 1, payload, fragment: codec.binary ? BYTES : '1', more: true }],
    expect: BOTH,
  })),
  ...['open', 'reset', 'ping', 'pong', 'goaway', 'window_update'].map((type): HostileCase => ({
    name: `both on a ${type} end the connection`,
    send: [{ type, stream: 3, payload: SECRET, fragment: '1' }],
    expect: BOTH,
  })),
  { name: 'an empty fragment beside a payload ends the connection', send: [{ ...DATA, fragment: '' }], expect: BOTH },
  { name: 'a fragment of null is none', send: [{ ...OPEN, fragment: null, end: true }], expect: 'lives', got: [[SECRET, 'end']] },
  ...refused('fragment', SLICE, [NUMBER, TRUE, ARRAY, MAP, ['an array of bytes', [34, 34]], DATE]),
  {
    name: 'a Buffer written as JSON ends the connection',
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
    name: 'written out as false are as if they were left out',
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
  { name: 'of null are none', send: [{ ...OPEN, headers: null, trailers: null, end: true }], expect: 'lives', got: [[SECRET, 'end']] },
  { name: 'without a key are none', send: [{ ...OPEN, headers: {}, trailers: {}, end: true }], expect: 'lives', got: [[SECRET, 'end']] },
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
