import { describe, expect } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import type { Metadata } from '../../src/index.js';
import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase } from '../support/hostile/case.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import { admin, checkMap, KEYS, poison, unpolluted } from '../support/hostile/prototypes.js';
import type { Envelope } from '../support/peer/frames.js';

describe('content prototypes', () => {
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
});

describe('content prototypes out', () => {
  /** Places where code of this side may put an outgoing map. */
  const OUT: readonly (readonly [
    place: string,
    put: (map: Metadata) => (remote: HostilePeer) => unknown,
    found: (news: readonly Envelope[]) => unknown,
  ])[] = [
    [
      'the headers of a call',
      (headers) =>
        ({ peer }) =>
          void peer.open('q', { headers }),
      ([open]) => open?.['headers'],
    ],
    [
      'the payload of a call',
      (payload) =>
        ({ peer }) =>
          void peer.open(payload),
      ([open]) => open?.['payload'],
    ],
    [
      'an open interceptor',
      (map) =>
        ({ peer }) => {
          const remove = peer.interceptOpen((headers) => {
            for (const [key, value] of Object.entries(map)) Object.defineProperty(headers, key, { value, enumerable: true });
          });
          try {
            peer.open('q');
          } finally {
            remove();
          }
        },
      ([open]) => open?.['headers'],
    ],
    [
      'the trailers of an answer',
      (trailers) =>
        ({ calls: [call] }) =>
          void call?.stream.end({ trailers }),
      ([data]) => data?.['trailers'],
    ],
    [
      'reply headers',
      (headers) =>
        ({ calls: [call] }) =>
          call?.stream.sendHeaders(headers),
      ([data]) => data?.['headers'],
    ],
  ];

  const outbound = OUT.flatMap(([place, put, found]) =>
    KEYS.map((key): HostileCase => {
      return {
        name: `The peer sends ${key} in ${place} as an own key, or refuses it`,
        send: ({ binary }) => [
          { type: 'open', stream: 3, payload: 'p' },
          async (remote) => {
            const refuses = binary && key === '__proto__';
            let failure: unknown = null;
            try {
              await put(poison(key))(remote);
            } catch (error) {
              failure = error;
            }
            expect(failure instanceof TypeError).toBe(refuses);
            if (!refuses) checkMap(found(remote.news()), key);
            unpolluted();
          },
          { type: 'reset', stream: 4, code: ResetCode.CANCEL },
        ],
        expect: 'lives',
        handlerCalls: 1,
      };
    }),
  );

  describeHostile('prototype keys in outgoing maps', outbound);

  describeHostile('interceptors that change prototypes', [
    {
      name: 'The peer sends no keys of a prototype that an open interceptor sets',
      send: [
        ({ peer }) => {
          const remove = peer.interceptOpen((headers) => {
            headers['__proto__'] = { ...admin };
            headers['own'] = 1;
          });
          peer.notify('q', { headers: { mine: 1 } });
          remove();
        },
      ],
      expect: 'lives',
      sends: [{ type: 'open', stream: 4, end: true, headers: { mine: 1, own: 1 }, payload: 'q' }],
    },
  ]);
});
