import { describe, expect, it } from '@jest/globals';
import { EMPTY, of, retry, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { through } from '../../../src/index.js';
import type { OpenOptions, Peer } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { collectLogs } from '../../support/peer/logs.js';

collectLogs();

const time = virtualPeerTime();

const ABORTED = AbortSignal.abort();

/** A way to make a call, with a payload that may fail it. */
const calls: readonly (readonly [string, (peer: Peer, payload: unknown, options?: OpenOptions) => Observable<unknown>])[] = [
  ['open$', (peer, payload, options) => peer.open$(payload, options)],
  ['open$ before an operator', (peer, payload, options) => peer.open$(payload, options).pipe()],
  ['open$ with an input', (peer, payload, options) => peer.open$(payload, { ...options, input: EMPTY })],
  ['request$', (peer, payload, options) => peer.request$(payload, options)],
  ['through', (peer, payload, options) => of(1).pipe(through(peer, payload, options))],
];

const ways: readonly (readonly [string, (peer: Peer) => { readonly payload?: unknown; readonly options?: OpenOptions }])[] = [
  ['a closed peer', (peer) => (void peer.close(), {})],
  [
    'an interceptor that throws',
    (peer) => (
      peer.interceptOpen(() => {
        throw new Error('no');
      }),
      {}
    ),
  ],
  ['a payload that cannot be encoded', () => ({ payload: 1n })],
  ['a signal that has aborted', () => ({ options: { signal: ABORTED } })],
  [
    'onOpen that throws',
    () => ({
      options: {
        onOpen: () => {
          throw new Error('no');
        },
      },
    }),
  ],
];

const rows = calls.flatMap(([call, make]) => ways.map(([way, prepare]) => [call, way, make, prepare] as const));

describe.each(rows)('%s with %s', (_call, _way, make, prepare) => {
  async function failing() {
    const { dialer } = createPair();
    await time.advance();
    const { payload, options } = prepare(dialer);
    await time.advance();
    return make(dialer, payload, options);
  }

  it('A call that cannot start fails on a later turn', async () => {
    const seen: string[] = [];
    (await failing()).subscribe({ next: () => seen.push('next'), error: () => seen.push('error'), complete: () => seen.push('complete') });
    expect(seen).toEqual([]);
    await time.advance();
    expect(seen).toEqual(['error']);
  });

  it('A call that cannot start does not fail for a subscriber that has left', async () => {
    const seen: string[] = [];
    (await failing()).subscribe({ error: () => seen.push('error') }).unsubscribe();
    await time.advance(10);
    expect(seen).toEqual([]);
  });

  it('A bare `retry` makes a call that cannot start again once a turn', async () => {
    let attempts = 0;
    const call$ = await failing();
    const retried$ = call$.pipe(retry({ delay: () => (++attempts, attempts < 5 ? of(null) : timer(1_000)) }));
    const subscription = retried$.subscribe();
    expect(attempts).toBe(0);
    await time.advance(100);
    expect(attempts).toBe(5);
    subscription.unsubscribe();
  });
});
