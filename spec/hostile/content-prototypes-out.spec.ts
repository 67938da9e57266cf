import { expect } from '@jest/globals';
import type { Metadata } from '../../src/index.js';
import { ResetCode } from '../../src/index.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase } from '../support/hostile/case.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import { admin, checkMap, KEYS, poison, unpolluted } from '../support/hostile/prototypes.js';
import type { Envelope } from '../support/peer/frames.js';

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
