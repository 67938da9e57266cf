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
const NO_ID = [['-1', -1], FRACTION, TEXT, TRUE, ARRAY, MAP, ['2^53', TOO_HIGH], ['-2^53', -TOO_HIGH], NAN, INFINITE, BELOW, BLOB] as const;
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
  { name: 'The peer ignores the stream of a ping', send: [{ ...PING, stream: 1 }], expect: 'lives', sends: [{ type: 'pong', nonce: 'n' }] },
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
  { name: 'The peer ignores a fragment of null', send: [{ ...OPEN, fragment: null, end: true }], expect: 'lives', got: [[SECRET, 'end']] },
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
