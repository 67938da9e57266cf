import { expect } from '@jest/globals';
import type { Codec, Peer } from '../../src/index.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { times } from '../support/hostile/floods.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import type { Envelope } from '../support/peer/frames.js';

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
