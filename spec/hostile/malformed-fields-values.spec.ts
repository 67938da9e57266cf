import { expect } from '@jest/globals';
import { MAX_FRAME_BYTES, ResetCode } from '../../src/index.js';
import type { Codec } from '../../src/index.js';
import { encodedLength } from '../../src/wire/length.js';
import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { bytes, cut, doubled, Packed, packedMap } from '../support/hostile/messages.js';
import { checkMap, poison, unpolluted } from '../support/hostile/prototypes.js';
import { SECRET } from '../support/hostile/peer.js';
import { isOpen, MINE, opens } from '../support/hostile/steps.js';
import { CODECS } from '../support/codecs.js';

/** How a stream of the peer's that the remote has reset fails. */
const failure =
  (expected: object): Step =>
  ({ opened: [mine] }) => {
    expect(mine?.stream.cause).toMatchObject({ how: 'reset', by: 'remote', ...expected });
  };

const kept = (what: string, fields: Record<string, unknown>, expected: object = fields, codec?: 'json' | 'msgpack'): HostileCase => ({
  name: `${what} reaches the caller as it came`,
  ...(codec === undefined ? {} : { codec }),
  send: [opens, { type: 'reset', stream: 4, ...fields }, failure(expected)],
  expect: 'lives',
  sends: [MINE],
  gotBack: [['RESET']],
});

const isLost: Step = (remote) => {
  remote.endSocket(1006);
};

describeHostile('a code', [
  ...[12_345, 4, 255, 256, -7, 0, Number.MAX_SAFE_INTEGER, 2 ** 60].map((code) => kept(`that nobody knows, ${code},`, { code })),
  kept('that is left out', {}, { code: null }),
  kept('of null', { code: null }),
  {
    name: 'on a goaway that nobody knows ends the connection in a second',
    send: [{ type: 'goaway', code: 12_345, last_stream: 2 }, 999, isOpen, 1],
    expect: { goaway: null, close: 1000 },
  },
  {
    name: 'on a goaway leaves no timer when the socket is lost within that second',
    send: [{ type: 'goaway', code: 12_345, last_stream: 2 }, 500, isLost],
    expect: 'lost',
  },
]);

const LONG = `${SECRET}${'x'.repeat(60_000)}`;
const pings = (what: string, nonce: string, codec?: 'json' | 'msgpack'): HostileCase => ({
  name: `${what} comes back in the pong`,
  ...(codec === undefined ? {} : { codec }),
  send: [{ type: 'ping', nonce }],
  expect: 'lives',
  sends: [{ type: 'pong', nonce }],
});

describeHostile('a reason', [
  kept('of 60 KB', { code: 8, reason: LONG }),
  kept('with a line break and an escape sequence', { code: 8, reason: `${SECRET}\r\n\u001b[31mERROR forged` }),
  kept('of half a surrogate pair', { code: 8, reason: '\ud800' }, undefined, 'json'),
  kept('of null', { code: 8, reason: null }, { code: 8, reason: '' }),
  kept('that looks like a format', { code: 8, reason: '%s %o %c ${1}' }),
]);

describeHostile('a nonce', [
  pings('of 60 KB', LONG),
  pings('of nothing', ''),
  pings('of half a surrogate pair', '\udfff', 'json'),
  pings('of NUL and line breaks', '\u0000\n\u2028'),
  pings('called __proto__', '__proto__'),
  { name: 'of null is none', send: [{ type: 'ping', nonce: null }], expect: 'lives', sends: [{ type: 'pong' }] },
  { name: 'whose pong would not fit is not answered', send: [{ type: 'ping', nonce: 'x'.repeat(MAX_FRAME_BYTES) }], expect: 'lives' },
  {
    name: 'whose pong would not fit with its escapes is not answered',
    codec: 'json',
    send: [`{"type":"ping","nonce":"${'\\u0001'.repeat(11_000)}"}`],
    expect: 'lives',
  },
  ...CODECS.flatMap(([name, codec]): readonly HostileCase[] => {
    const most = MAX_FRAME_BYTES - (encodedLength(codec.encode({ type: 'pong', nonce: LONG })) - LONG.length);
    return [
      pings('whose pong fits to the byte', 'x'.repeat(most), codec.binary ? 'msgpack' : 'json'),
      {
        name: `whose pong is a byte too long under ${name} is not answered`,
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

describeHostile('a key that comes twice', [
  {
    name: 'is what it was last: a stream',
    role: 'acceptor',
    send: doubles(['type', 'data'], ['stream', 1], ['stream', 3], ['payload', 2]),
    expect: 'lives',
    got: [['first', 2]],
  },
  {
    name: 'is what it was last: a type',
    role: 'acceptor',
    send: doubles(['type', 'reset'], ['stream', 3], ['type', 'data'], ['payload', 2]),
    expect: 'lives',
    got: [['first', 2]],
  },
  {
    name: 'is what it was last: a payload',
    role: 'acceptor',
    send: doubles(['type', 'data'], ['stream', 3], ['payload', SECRET], ['payload', 2]),
    expect: 'lives',
    got: [['first', 2]],
  },
  {
    name: 'does not hide a bad value that comes last',
    role: 'acceptor',
    send: doubles(['type', 'data'], ['stream', 3], ['stream', 'x']),
    expect: PROTOCOL,
    got: [['first']],
  },
]);

const PROTO_MAP = new Packed(packedMap(['__proto__', { admin: true }]));

describeHostile('a key __proto__', [
  {
    name: 'of the envelope is one that nobody knows',
    codec: 'json',
    send: [`{"type":"ping","__proto__":{"nonce":"n","type":"goaway","admin":true}}`, unpolluted],
    expect: 'lives',
    sends: [{ type: 'pong' }],
  },
  { name: 'of the envelope lends it no type', codec: 'json', send: ['{"__proto__":{"type":"ping"}}'], expect: PROTOCOL },
  {
    name: 'of a payload in fragments is data',
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
    name: 'of the envelope ends the connection under msgpack',
    codec: 'msgpack',
    send: [bytes(packedMap(['type', 'ping'], ['__proto__', { type: 'goaway' }]))],
    expect: PROTOCOL,
  },
]);

const inMap = (key: unknown, where = 'payload'): ArrayBuffer =>
  bytes(packedMap(['type', 'open'], ['stream', 3], [where, new Packed(packedMap([key, SECRET], ['1', 2]))]));

describeHostile('a key of a map of msgpack', [
  ...(['headers', 'trailers'] as const).map((where): HostileCase => ({
    name: `that is a number ends the connection in ${where}`,
    codec: 'msgpack',
    role: 'acceptor',
    send: [inMap(7, where)],
    expect: PROTOCOL,
  })),
  {
    name: 'that is a number is text in a payload',
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
    name: `that is ${key instanceof Uint8Array ? 'bytes' : key instanceof Date ? 'a date' : String(key)}${key === 1 ? ' beside its numeral' : ''} ends the connection`,
    codec: 'msgpack',
    role: 'acceptor',
    send: [inMap(key)],
    expect: PROTOCOL,
  })),
  {
    name: 'that is __proto__ in a payload in fragments costs the stream',
    codec: 'msgpack',
    send: cut(bytes(PROTO_MAP.bytes), 2).map((fragment, nth): Step => ({ type: 'open', stream: 3, fragment, more: nth === 0 })),
    expect: 'lives',
    resets: [[3, ResetCode.PROTOCOL_ERROR]],
  },
]);
