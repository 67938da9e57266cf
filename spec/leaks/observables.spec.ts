import { describe, expect, it } from '@jest/globals';
import { concat, mergeMap, NEVER, of, share, take, tap } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, OperatorFunction } from 'rxjs';
import {
  closeReasons,
  interceptIncomingHeaders,
  interceptOpen,
  interceptReplyHeaders,
  observeFrames,
  ofDirection,
  ofStream,
  ofType,
} from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import type { Pair } from '../../src/testing.js';
import { counting } from '../support/peer/counting.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { LONGEST_WATCH_MS, surplus } from './scene.js';

const time = virtualPeerTime();
const { held } = counting(time);
collectLogs();

/** A hot Observable of a peer: its events happen with or without a subscriber. */
interface Hot {
  readonly what: string;
  readonly of: (peer: Peer) => Observable<unknown>;
  /** Whether a call of the remote makes it emit. Otherwise only the end of the connection does. */
  readonly emits?: true;
  /** Whether it is a hook in each of many peers. The peers end one by one, and the hook operator lives on. */
  readonly ofPeers?: true;
}

/** A hook operator on a source of peers that stays open, as a server's `peers$` does. */
const hooked =
  (operator: OperatorFunction<Peer, unknown>) =>
  (peer: Peer): Observable<unknown> =>
    concat(of(peer), NEVER).pipe(operator);

const HOT: readonly Hot[] = [
  { what: 'streams$', emits: true, of: ({ streams$ }) => streams$ },
  { what: 'streams$, shared', emits: true, of: ({ streams$ }) => streams$.pipe(share()) },
  { what: 'streams$ with readers of the streams', of: ({ streams$ }) => streams$.pipe(mergeMap((stream) => stream)) },
  { what: 'frames$', emits: true, of: ({ frames$ }) => frames$ },
  { what: 'frames$ by ofType', emits: true, of: ({ frames$ }) => frames$.pipe(ofType('open')) },
  { what: 'frames$ by ofStream', emits: true, of: ({ frames$ }) => frames$.pipe(ofStream(1)) },
  { what: 'frames$ by ofDirection', emits: true, of: ({ frames$ }) => frames$.pipe(ofDirection('rx')) },
  { what: 'closes$', of: ({ closes$ }) => closes$ },
  { what: 'status$', emits: true, of: ({ status$ }) => status$ },
  { what: 'closeReasons', ofPeers: true, of: hooked(closeReasons()) },
  { what: 'observeFrames', emits: true, ofPeers: true, of: hooked(observeFrames(() => undefined)) },
  { what: 'interceptOpen', emits: true, ofPeers: true, of: hooked(interceptOpen(() => undefined)) },
  { what: 'interceptReplyHeaders', emits: true, ofPeers: true, of: hooked(interceptReplyHeaders(() => undefined)) },
  { what: 'interceptIncomingHeaders', emits: true, ofPeers: true, of: hooked(interceptIncomingHeaders(() => undefined)) },
];

interface Ending {
  readonly how: string;
  readonly piped?: MonoTypeOperatorFunction<unknown>;
  readonly end: (pair: Pair, unsubscribe: () => void) => void;
  readonly connection?: true;
}

const ENDINGS: readonly Ending[] = [
  { how: 'unsubscribed', end: (_, unsubscribe) => unsubscribe() },
  {
    how: 'unsubscribed after a value',
    end({ dialer }, unsubscribe) {
      dialer.notify('p');
      unsubscribe();
    },
  },
  { how: 'enough after one value', piped: take(1), end: ({ dialer }) => dialer.notify('p') },
  {
    how: 'met by a callback that throws',
    piped: tap(() => {
      throw new Error('a callback');
    }),
    end: ({ dialer }) => dialer.notify('p'),
  },
  { how: 'left by the connection', connection: true, end: ({ link }) => link.cut() },
  { how: 'left by its peer, which is closed', connection: true, end: ({ acceptor }) => void acceptor.close() },
  { how: 'left by the other peer, which is closed', connection: true, end: ({ dialer }) => void dialer.close() },
];

describe.each(HOT)('$what', ({ what, of: watched, emits, ofPeers }) => {
  it.each(ENDINGS.filter(({ piped }) => piped === undefined || emits === true))(
    `A subscription to ${what} holds nothing once it is $how`,
    async ({ piped, end, connection }) => {
      const empty = held();
      const pair = createPair();
      pair.acceptor.onStream(() => undefined);
      await time.advance();
      const made = held();
      const given$ = watched(pair.acceptor);
      const subscription = (piped === undefined ? given$ : given$.pipe(piped)).subscribe({ error: () => undefined });
      expect(subscription.closed ? 0 : surplus(made, held())).not.toEqual({});
      end(pair, () => subscription.unsubscribe());
      await time.advance(connection === true ? 0 : LONGEST_WATCH_MS);
      if (connection === true && ofPeers === true) subscription.unsubscribe();
      expect(surplus(connection === true ? empty : made, held())).toEqual({});
    },
  );
});

describe('a hook operator whose source of peers has completed', () => {
  it.each<[string, MonoTypeOperatorFunction<Peer>]>([
    ['observeFrames', observeFrames(() => undefined)],
    ['interceptOpen', interceptOpen(() => undefined)],
    ['interceptReplyHeaders', interceptReplyHeaders(() => undefined)],
    ['interceptIncomingHeaders', interceptIncomingHeaders(() => undefined)],
  ])('A hook operator of a completed source leaves its hook in the peers until they end: %s', async (_name, operator) => {
    const empty = held();
    const { dialer } = createPair();
    await time.advance();
    const before = held();
    of(dialer).pipe(operator).subscribe();
    // The hook, and the listener for the end of its peer.
    expect(surplus(before, held())).toMatchObject({ hooks: 2 });
    void dialer.close();
    await time.advance();
    expect(surplus(empty, held())).toEqual({});
  });
});
