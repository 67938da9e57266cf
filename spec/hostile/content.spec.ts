import { describe, expect } from '@jest/globals';
import { encode } from '@msgpack/msgpack';
import { ResetCode } from '../../src/index.js';
import type { Codec, Peer } from '../../src/index.js';
import type { Message } from '../../src/wire/codec.js';
import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { times } from '../support/hostile/floods.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import { echo } from '../support/peer/dialing.js';
import type { Envelope } from '../support/peer/frames.js';

describe('content', () => {
  const { PROTOCOL_ERROR } = ResetCode;

  /** Nested arrays or maps of one kind. */
  interface Nesting {
    readonly what: string;
    readonly codec: 'json' | 'msgpack';
    readonly limit: number;
    readonly encoded: (levels: number) => Message;
  }

  const bytes = (...parts: readonly (readonly number[])[]): ArrayBuffer => Uint8Array.from(parts.flat()).buffer;
  const repeat = (count: number, unit: readonly number[]): number[] => Array.from({ length: count }, () => unit).flat();

  const NESTINGS: readonly Nesting[] = [
    { what: 'arrays', codec: 'json', limit: 256, encoded: (levels) => '['.repeat(levels) + ']'.repeat(levels) },
    { what: 'objects', codec: 'json', limit: 256, encoded: (levels) => '{"":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1) },
    {
      what: 'arrays in the last of several items',
      codec: 'json',
      limit: 256,
      encoded: (levels) => '[1,2,'.repeat(levels - 1) + '[]' + ']'.repeat(levels - 1),
    },
    { what: 'arrays', codec: 'msgpack', limit: 95, encoded: (levels) => bytes(repeat(levels - 1, [0x91]), [0x90]) },
    { what: 'maps', codec: 'msgpack', limit: 95, encoded: (levels) => bytes(repeat(levels - 1, [0x81, 0xa0]), [0x80]) },
    {
      what: 'arrays with long headers',
      codec: 'msgpack',
      limit: 95,
      encoded: (levels) => bytes(repeat(levels - 1, [0xdd, 0, 0, 0, 1]), [0x90]),
    },
    {
      what: 'arrays in the last of several items',
      codec: 'msgpack',
      limit: 95,
      encoded: (levels) => bytes(repeat(levels - 1, [0x93, 1, 2]), [0x90]),
    },
  ];

  /** An open with an encoded value in place of its payload or its headers. */
  function around(codec: Codec, key: 'payload' | 'headers', encoded: Message, stream: number): Message {
    if (typeof encoded === 'string') return `{"type":"open","stream":${stream},"${key}":${encoded}}`;
    const head = new Uint8Array(codec.encode({ type: 'open', stream, payload: 0 }) as ArrayBuffer);
    const keyed = new Uint8Array([...head.slice(0, -'payload'.length - 2), 0xa0 + key.length, ...Buffer.from(key)]);
    return bytes([...keyed], [...new Uint8Array(encoded)]);
  }

  const openWith =
    (key: 'payload' | 'headers', encoded: Message): Step =>
    (remote) => {
      remote.highest = 3;
      remote.send(around(remote.codec, key, encoded, remote.twin(3)));
    };

  /** Checks that the peer has sent the payload of its only call back unchanged. */
  const echoed: Step = (remote) => {
    const news = remote.news();
    expect([remote.calls.length, news]).toEqual([1, [{ type: 'data', stream: 3, end: true, payload: remote.calls[0]?.payload }]]);
  };

  const depths = NESTINGS.flatMap(({ what, codec, limit, encoded }): HostileCase[] => {
    const fragment = (message: Message): unknown => (typeof message === 'string' ? message : new Uint8Array(message));
    return [
      {
        name: `The peer receives and sends ${limit} levels of ${what}`,
        codec,
        options: { onStream: echo },
        send: [openWith('payload', encoded(limit)), 0, echoed],
        expect: 'lives',
        handlerCalls: 1,
      },
      {
        name: `The peer ends the connection at ${limit + 1} levels of ${what}`,
        codec,
        send: [openWith('payload', encoded(limit + 1))],
        expect: PROTOCOL,
      },
      {
        name: `The peer ends the connection at 30 000 levels of ${what}`,
        codec,
        send: [openWith('payload', encoded(30_000))],
        expect: PROTOCOL,
      },
      {
        name: `The peer receives and sends ${limit} levels of ${what} in fragments`,
        codec,
        options: { onStream: echo },
        send: [{ type: 'open', stream: 3, fragment: fragment(encoded(limit)) }, 0, echoed],
        expect: 'lives',
        handlerCalls: 1,
      },
      {
        name: `The peer resets a stream for ${limit + 1} levels of ${what} in fragments`,
        codec,
        send: [{ type: 'open', stream: 3, fragment: fragment(encoded(limit + 1)) }],
        expect: 'lives',
        resets: [[3, PROTOCOL_ERROR]],
      },
      {
        name: `The peer resets a stream for 30 000 levels of ${what} in fragments`,
        codec,
        send: [{ type: 'open', stream: 3, fragment: fragment(encoded(30_000)) }],
        expect: 'lives',
        resets: [[3, PROTOCOL_ERROR]],
      },
    ];
  });

  /** Unusual values, each with the value that reaches the application. */
  const VALUES: readonly (readonly [what: string, codec: 'json' | 'msgpack', message: Message, arrives: unknown])[] = [
    ['1e400', 'json', '1e400', Infinity],
    ['-1e400', 'json', '-1e400', -Infinity],
    ['-0', 'json', '-0', -0],
    ['2^53', 'json', '9007199254740992', 2 ** 53],
    ['2^53 + 1, rounded', 'json', '9007199254740993', 2 ** 53],
    ['2^64', 'json', '18446744073709551616', 2 ** 64],
    ['a lone surrogate', 'json', '"\\ud800"', '\ud800'],
    ['a NUL', 'json', '"\\u0000"', '\0'],
    ['a map with a duplicate key', 'json', '{"a":1,"a":2}', { a: 2 }],
    ['an object that looks like a thenable', 'json', '{"then":1}', { then: 1 }],
    ['NaN', 'msgpack', bytes([0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]), NaN],
    ['a NaN with a payload', 'msgpack', bytes([0xcb, 0xff, 0xf8, 0, 0, 0, 0, 0, 1]), NaN],
    ['Infinity', 'msgpack', bytes([0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]), Infinity],
    ['-0', 'msgpack', bytes([0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0]), -0],
    ['2^64 - 1, rounded', 'msgpack', bytes([0xcf], repeat(8, [0xff])), 2 ** 64],
    ['-2^63', 'msgpack', bytes([0xd3, 0x80], repeat(7, [0])), -(2 ** 63)],
    ['a timestamp', 'msgpack', bytes([0xd6, 0xff, 0, 0, 0, 1]), new Date(1_000)],
    ['a map with a duplicate key', 'msgpack', bytes([0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2]), { a: 2 }],
    ['a map with an integer as a key', 'msgpack', bytes([0x81, 7, 1]), { 7: 1 }],
  ];

  /** Undecodable values, which no application receives. */
  const REFUSED: readonly (readonly [what: string, codec: 'json' | 'msgpack', message: Message])[] = [
    ['NaN', 'json', 'NaN'],
    ['Infinity', 'json', 'Infinity'],
    ['a text that contains a line break', 'json', '"\n"'],
    ['a number with a leading zero', 'json', '01'],
    ['a trailing comma', 'json', '[1,]'],
    ['a comment', 'json', '/**/1'],
    ['an empty payload', 'json', ''],
    ['an extension', 'msgpack', bytes([0xd4, 1, 0])],
    ['an extension of no bytes', 'msgpack', bytes([0xc7, 0, 1])],
    ['a timestamp of no known length', 'msgpack', bytes([0xc7, 3, 0xff, 0, 0, 0])],
    ['a timestamp beyond Date', 'msgpack', bytes([0xc7, 12, 0xff], repeat(4, [0]), [0x7f], repeat(7, [0xff]))],
    ['the byte that msgpack never uses', 'msgpack', bytes([0xc1])],
    ['a truncated text', 'msgpack', bytes([0xa5, 0x61])],
    ['a map without its last value', 'msgpack', bytes([0x81, 0xa1, 0x61])],
    ['a map with a list as a key', 'msgpack', bytes([0x81, 0x90, 1])],
    ['a map with null as a key', 'msgpack', bytes([0x81, 0xc0, 1])],
    ['a map with a number and its numeral as keys', 'msgpack', bytes([0x82, 1, 1, 0xa1, 0x31, 2])],
    ['a key __proto__', 'msgpack', new Uint8Array(encode({ ['__proto__']: { admin: true } })).buffer],
    ['a value with a byte behind it', 'msgpack', bytes([1, 2])],
  ];

  const values = [
    ...VALUES.map(([what, codec, message, arrives]): HostileCase => ({
      name: `The peer delivers ${what}`,
      codec,
      send: [
        openWith('payload', message),
        ({ calls: [call] }) => {
          expect(call?.payload).toEqual(arrives);
          expect(Object.is(call?.payload, -0)).toBe(Object.is(arrives, -0));
        },
      ],
      expect: 'lives',
      handlerCalls: 1,
    })),
    ...REFUSED.flatMap(([what, codec, message]): HostileCase[] => [
      { name: `The peer ends the connection at ${what}`, codec, send: [openWith('payload', message)], expect: PROTOCOL },
      {
        name: `The peer resets a stream for ${what} in fragments`,
        codec,
        send: [{ type: 'open', stream: 3, fragment: typeof message === 'string' ? message : new Uint8Array(message) }],
        expect: 'lives',
        resets: [[3, PROTOCOL_ERROR]],
      },
    ]),
  ];

  describeHostile('nested payloads', depths);
  describeHostile('unusual payloads', values);

  describeHostile('invalid UTF-8', [
    ...[[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x80]].map((invalid): HostileCase => ({
      name: `The peer ends the connection at text with the invalid bytes ${invalid.map((byte) => byte.toString(16)).join(' ')}`,
      codec: 'msgpack',
      send: [openWith('payload', bytes([0xa0 + invalid.length], invalid))],
      expect: PROTOCOL,
    })),
  ]);
});

describe('content bytes', () => {
  const blob = Uint8Array.from({ length: 5_000 }, (_, n) => n % 251);
  const value = { blob, list: [blob, { deep: blob.subarray(10, 20) }], text: 'x'.repeat(300) };

  /** Sends messages whose memory is overwritten as soon as the peer has received them. */
  const pooled =
    (...envelopes: readonly Envelope[]): Step =>
    (remote) => {
      remote.highest = 3;
      for (const envelope of envelopes) {
        const message = remote.written(envelope);
        remote.send(message);
        if (typeof message !== 'string') new Uint8Array(message).fill(0xff);
      }
    };

  /** One half of the encoded value. */
  function half(codec: Codec, which: 'first' | 'second'): Uint8Array {
    const encoded = new Uint8Array(codec.encodePayload(value) as ArrayBuffer);
    const middle = encoded.length >> 1;
    return which === 'first' ? encoded.slice(0, middle) : encoded.slice(middle);
  }

  const halves = (codec: Codec, around: Envelope): Envelope[] => [
    { ...around, fragment: half(codec, 'first'), more: true },
    { ...around, fragment: half(codec, 'second') },
  ];

  const open = { type: 'open', stream: 3 };
  const data = { type: 'data', stream: 3 };

  /** Places where bytes arrive, each with how the application reads them. */
  const ARRIVING: readonly (readonly [
    place: string,
    frames: (codec: Codec) => readonly Envelope[],
    found: (remote: HostilePeer) => unknown,
  ])[] = [
    ['the payload of an open', () => [{ ...open, payload: value }], ({ calls }) => calls[0]?.payload],
    ['a payload', () => [open, { ...data, payload: value }], ({ calls }) => calls[0]?.values[0]],
    ['the headers of an open', () => [{ ...open, headers: value }], ({ calls }) => calls[0]?.stream.headers],
    ['trailers', () => [open, { ...data, end: true, trailers: value }], ({ calls }) => calls[0]?.stream.trailers],
    ['the payload of an open in fragments', (codec) => halves(codec, open), ({ calls }) => calls[0]?.payload],
    ['a payload in fragments', (codec) => [open, ...halves(codec, data)], ({ calls }) => calls[0]?.values[0]],
    [
      'the payload of a reset in fragments',
      (codec) => [open, ...halves(codec, { type: 'reset', stream: 3, code: 300 })],
      ({ calls }) => (calls[0]?.stream.cause as { payload?: unknown } | null | undefined)?.payload,
    ],
  ];

  const aliases = ARRIVING.flatMap(([place, frames, found]): HostileCase[] => {
    const check: Step = (remote) => {
      expect(found(remote)).toEqual(value);
    };
    const common = { codec: 'msgpack', expect: 'lives', handlerCalls: 1 } as const;
    return [
      { ...common, name: `The application receives the sent bytes in ${place}`, send: (codec) => [pooled(...frames(codec)), 0, check] },
      {
        ...common,
        name: `The bytes in ${place} outlive later messages`,
        send: (codec) => [pooled(...frames(codec), ...times(20, () => ({ type: 'whatever', payload: value }))), 0, check],
      },
    ];
  });

  const observed: readonly HostileCase[] = [
    {
      name: 'A frame observer may keep the bytes of fragments',
      codec: 'msgpack',
      send: (codec) => {
        const kept: unknown[] = [];
        return [
          ({ peer }) => {
            peer.onFrame((direction, { fragment }) => direction === 'rx' && kept.push(fragment));
          },
          pooled(open, ...halves(codec, data)),
          0,
          () => {
            expect(kept.slice(1).map((fragment) => new Uint8Array(fragment as ArrayBuffer))).toEqual([
              half(codec, 'first'),
              half(codec, 'second'),
            ]);
          },
        ];
      },
      expect: 'lives',
      got: [[null, value]],
    },
  ];

  /** Encodes and decodes other values with the codec of the peer. */
  function useCodec(codec: Codec): undefined {
    const other = { other: ['y'.repeat(5_000), 1, { z: null }] };
    expect(codec.decodePayload(codec.encodePayload(other))).toEqual(other);
    expect(codec.decode(codec.encode({ type: 'data', stream: 1, payload: other, headers: { h: 1 } })).payload).toEqual(other);
    expect(() => codec.decode(codec.binary ? new ArrayBuffer(3) : '{')).toThrow();
    expect(() => codec.encodePayload({ deep: () => 1 })).toThrow(TypeError);
  }

  /** Places where application code runs while the peer handles a frame. */
  const HOOKS: readonly (readonly [hook: string, hang: (peer: Peer, use: () => undefined) => unknown])[] = [
    ['an open interceptor', (peer, use) => peer.interceptOpen(use)],
    ['a reply-headers interceptor', (peer, use) => peer.interceptReplyHeaders(use)],
    ['an incoming-headers interceptor', (peer, use) => peer.interceptIncomingHeaders(use)],
    ['a frame observer', (peer, use) => peer.onFrame(use)],
    ['a subscriber of frames$', (peer, use) => peer.frames$.subscribe(use)],
    ['a subscriber of streams$', (peer, use) => peer.streams$.subscribe(use)],
  ];

  const payload = { list: [1, 2.5, null, true], text: 'é😀'.repeat(2_000), deep: { a: { b: { c: [] } } } };

  /** A value with a getter that uses the codec which encodes the value. */
  const withGetter = (use: () => undefined): object =>
    Object.defineProperty({ ...payload }, 'deep', {
      enumerable: true,
      get: () => {
        use();
        return payload.deep;
      },
    });

  const reentrant = HOOKS.map(([hook, hang]): HostileCase => {
    return {
      name: `The peer loses no data when ${hook} uses its codec`,
      options: {
        onStream: (received, stream) => {
          stream.setTrailers({ t: 1 });
          stream.sendHeaders();
          return stream.reply(received);
        },
      },
      send: (codec) => [
        ({ peer }) => {
          hang(peer, () => useCodec(codec));
          peer.notify(payload, { headers: { h: 1 } });
        },
        { ...open, payload, headers: { h: 1 } },
        { ...data, payload, end: true },
        0,
      ],
      expect: 'lives',
      sends: [
        { type: 'open', stream: 4, end: true, headers: { h: 1 }, payload },
        { type: 'data', stream: 3, end: true, payload, trailers: { t: 1 } },
      ],
      got: [[payload, payload, 'end']],
    };
  });

  describeHostile('bytes of messages', [...aliases, ...observed]);
  describeHostile('re-entrant codecs', [
    ...reentrant,
    {
      name: 'The peer loses no data when a getter of the payload uses its codec',
      send: (codec) => [
        ({ peer }) => {
          peer.notify(withGetter(() => useCodec(codec)));
        },
      ],
      expect: 'lives',
      sends: [{ type: 'open', stream: 4, end: true, payload }],
    },
  ]);
});
