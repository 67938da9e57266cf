import { expect } from '@jest/globals';
import type { Codec, Peer } from '../../src/index.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { times } from '../support/hostile/floods.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import type { Envelope } from '../support/peer/frames.js';

const blob = Uint8Array.from({ length: 5_000 }, (_, n) => n % 251);
const value = { blob, list: [blob, { deep: blob.subarray(10, 20) }], text: 'x'.repeat(300) };

/** Messages that lie in one pool, which is written over as soon as the last of them was handed over. */
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

/** One half of the encoded value, cut anywhere. */
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

/** Where bytes arrive, and where the application finds them. */
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
    { ...common, name: `${place} are those that were sent`, send: (codec) => [pooled(...frames(codec)), 0, check] },
    {
      ...common,
      name: `${place} are not lent to the next message`,
      send: (codec) => [pooled(...frames(codec), ...times(20, () => ({ type: 'whatever', payload: value }))), 0, check],
    },
  ];
});

const observed: readonly HostileCase[] = [
  {
    name: 'a frame observer may keep',
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

/** Uses the peer's codec for something else, both ways, large and small. */
function useCodec(codec: Codec): undefined {
  const other = { other: ['y'.repeat(5_000), 1, { z: null }] };
  expect(codec.decodePayload(codec.encodePayload(other))).toEqual(other);
  expect(codec.decode(codec.encode({ type: 'data', stream: 1, payload: other, headers: { h: 1 } })).payload).toEqual(other);
  expect(() => codec.decode(codec.binary ? new ArrayBuffer(3) : '{')).toThrow();
  expect(() => codec.encodePayload({ deep: () => 1 })).toThrow(TypeError);
}

/** Code of an application that runs in the middle of something. */
const HOOKS: readonly (readonly [hook: string, hang: (peer: Peer, use: () => undefined) => unknown])[] = [
  ['an open interceptor', (peer, use) => peer.interceptOpen(use)],
  ['a reply-headers interceptor', (peer, use) => peer.interceptReplyHeaders(use)],
  ['an incoming-headers interceptor', (peer, use) => peer.interceptIncomingHeaders(use)],
  ['a frame observer', (peer, use) => peer.onFrame(use)],
  ['a subscriber of frames$', (peer, use) => peer.frames$.subscribe(use)],
  ['a subscriber of streams$', (peer, use) => peer.streams$.subscribe(use)],
];

const payload = { list: [1, 2.5, null, true], text: 'é😀'.repeat(2_000), deep: { a: { b: { c: [] } } } };

/** A getter of a value that is being encoded uses the codec that encodes it. */
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
    name: `in ${hook}`,
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

describeHostile('bytes that the application reads outlive their message:', [...aliases, ...observed]);
describeHostile('a codec that is used while it works loses nothing:', [
  ...reentrant,
  {
    name: 'in a getter of what it encodes',
    send: (codec) => [
      ({ peer }) => {
        peer.notify(withGetter(() => useCodec(codec)));
      },
    ],
    expect: 'lives',
    sends: [{ type: 'open', stream: 4, end: true, payload }],
  },
]);
