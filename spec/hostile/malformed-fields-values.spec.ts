import { expect } from '@jest/globals';
import { MAX_FRAME_BYTES, ResetCode } from '../../src/index.js';
import type { Codec } from '../../src/index.js';
import { encodedLength } from '../../src/wire/length.js';
import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { cut, doubled, Packed, packedMap } from '../support/hostile/messages.js';
import { checkMap, poison, unpolluted } from '../support/hostile/prototypes.js';
import { SECRET } from '../support/hostile/peer.js';
import { isOpen, MINE, opens } from '../support/hostile/steps.js';
import { CODECS } from '../support/codec/shipped.js';
import { bytes } from '../support/codec/values.js';

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
