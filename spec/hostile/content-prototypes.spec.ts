import { expect } from '@jest/globals';
import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase } from '../support/hostile/case.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import { admin, checkMap, KEYS, poison, unpolluted } from '../support/hostile/prototypes.js';
import type { Envelope } from '../support/peer/frames.js';

/** Checks and counts every map that a hook receives. */
function watch({ peer }: HostilePeer, key: string): { seen: number } {
  const watched = { seen: 0 };
  const look = (map: unknown): void => {
    if (typeof map !== 'object' || map === null || Object.keys(map).length === 0) return;
    watched.seen++;
    checkMap(map, key);
  };
  peer.onFrame((_, { headers, trailers, payload }) => {
    for (const map of [headers, trailers, payload]) look(map);
  });
  peer.interceptIncomingHeaders((headers) => {
    look(headers);
  });
  return watched;
}

/** Places where a remote may put a map, each with how an application reads it and how often hooks receive it. */
const PLACES: readonly (readonly [
  place: string,
  frames: (map: unknown) => readonly Envelope[],
  read: (remote: HostilePeer) => unknown,
  seen: number,
])[] = [
  ['the headers of an open', (headers) => [{ type: 'open', stream: 3, headers }], ({ calls }) => calls[0]?.stream.headers, 2],
  ['the payload of an open', (payload) => [{ type: 'open', stream: 3, payload }], ({ calls }) => calls[0]?.payload, 1],
  [
    'a payload',
    (payload) => [
      { type: 'open', stream: 3 },
      { type: 'data', stream: 3, payload },
    ],
    ({ calls }) => calls[0]?.values[0],
    1,
  ],
  [
    'trailers',
    (trailers) => [
      { type: 'open', stream: 3 },
      { type: 'data', stream: 3, end: true, trailers },
    ],
    ({ calls }) => calls[0]?.stream.trailers,
    1,
  ],
  ['reply headers', (headers) => [{ type: 'data', stream: 2, headers }], ({ innocents }) => innocents[1]?.stream.replyHeaders, 2],
  [
    'the payload of a reset',
    (payload) => [
      { type: 'open', stream: 3 },
      { type: 'reset', stream: 3, code: 300, payload },
    ],
    ({ calls }) => (calls[0]?.stream.cause as { payload?: unknown } | null | undefined)?.payload,
    1,
  ],
];

const inbound = PLACES.flatMap(([place, frames, readBack, seen]) =>
  KEYS.flatMap((key): HostileCase[] => {
    const calls = frames(null).filter(({ type }) => type === 'open').length;
    const arrives: HostileCase = {
      name: `The peer delivers ${key} in ${place} like any other key`,
      ...(key === '__proto__' ? { codec: 'json' } : {}),
      send: () => {
        let watched = { seen: 0 };
        return [
          (remote) => {
            watched = watch(remote, key);
          },
          ...frames(poison(key)),
          0,
          (remote) => {
            checkMap(readBack(remote), key);
            expect(watched.seen).toBe(seen);
            unpolluted();
          },
        ];
      },
      expect: 'lives',
      handlerCalls: calls,
    };
    const refused: HostileCase = {
      name: `The peer ends the connection at __proto__ in ${place}`,
      codec: 'msgpack',
      send: [...frames(poison(key)), unpolluted],
      expect: PROTOCOL,
      handlerCalls: frames(null).length > 1 ? calls : 0,
    };
    return key === '__proto__' ? [arrives, refused] : [arrives];
  }),
);

const envelopes = KEYS.map((key): HostileCase => ({
  name: `The peer drops ${key} beside the keys of an envelope`,
  codec: 'json',
  send: [
    { type: 'open', stream: 3, [key]: { type: 'reset', ...admin } },
    () => {
      unpolluted();
    },
  ],
  expect: 'lives',
  handlerCalls: 1,
}));

/** Fields that an envelope only inherits. */
const inherited: readonly HostileCase[] = [
  {
    name: 'The peer ends the connection at an envelope that only inherits its type',
    codec: 'json',
    send: [
      (remote) => {
        Object.defineProperty(Object.prototype, 'type', { value: 'open', configurable: true });
        try {
          remote.send('{"stream":3}');
        } finally {
          Reflect.deleteProperty(Object.prototype, 'type');
        }
      },
    ],
    expect: PROTOCOL,
  },
  {
    name: 'The peer ignores a payload, headers and an end that an envelope only inherits',
    codec: 'json',
    send: [
      (remote) => {
        for (const [key, value] of Object.entries({ payload: 'inherited', headers: admin, end: true }))
          Object.defineProperty(Object.prototype, key, { value, configurable: true });
        try {
          remote.send(`{"type":"open","stream":${remote.twin(3)}}`);
        } finally {
          for (const key of ['payload', 'headers', 'end']) Reflect.deleteProperty(Object.prototype, key);
        }
        remote.highest = 3;
        const [call] = remote.calls;
        expect([call?.payload, call?.stream.headers, call?.stream.phase]).toEqual([null, {}, 'open']);
      },
    ],
    expect: 'lives',
    handlerCalls: 1,
  },
];

describeHostile('prototype keys in maps', inbound);
describeHostile('prototype keys in envelopes', [...envelopes, ...inherited]);
