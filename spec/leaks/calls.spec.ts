import { describe, expect, it } from '@jest/globals';
import { concat, defer, finalize, merge, mergeMap, NEVER, of, share, switchMap, take, takeUntil, tap } from 'rxjs';
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
  reopenOnReconnect,
  ResetCode,
  retryWhenSafe,
  through,
  withCredit,
} from '../../src/index.js';
import type { OpenOptions, Peer, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import type { Pair } from '../../src/testing.js';
import { counting } from '../support/peer/counting.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { ENDINGS } from './endings.js';
import { joined, LONGEST_WATCH_MS, surplus } from './scene.js';
import type { Scene } from './scene.js';

describe('calls', () => {
  const time = virtualPeerTime();
  const counts = counting(time);
  collectLogs();

  /** One way to subscribe to a call of another peer. */
  interface Way {
    readonly what: string;
    readonly subscribe: (scene: Scene) => Observable<unknown>;
    /** Whether the call needs only one value; its stream lives on until its own end. */
    readonly settles?: true;
  }

  const options = ({ abort }: Scene): OpenOptions<unknown, never> => ({ signal: abort.signal, timeoutMs: 60_000, headers: { a: 1 } });

  const WAYS: readonly Way[] = [
    { what: 'request$', settles: true, subscribe: ({ asking }) => asking.request$('p') },
    {
      what: 'request$ with a signal, a time-out and headers',
      settles: true,
      subscribe: (scene) => scene.asking.request$('p', options(scene)),
    },
    { what: 'request$ with retry', settles: true, subscribe: ({ asking }) => asking.request$('p', { retry: 'safe' }) },
    { what: 'request$ with retryWhenSafe', settles: true, subscribe: ({ asking }) => asking.request$('p').pipe(retryWhenSafe()) },
    {
      what: 'request',
      settles: true,
      subscribe: ({ asking, abort }) => defer(() => asking.request('p', { signal: abort.signal })).pipe(finalize(() => abort.abort())),
    },
    { what: 'open$', subscribe: ({ asking }) => asking.open$('p') },
    { what: 'open$ with a signal, a time-out and headers', subscribe: (scene) => scene.asking.open$('p', options(scene)) },
    { what: 'open$ with retry', subscribe: ({ asking }) => asking.open$('p', { retry: 'safe' }) },
    { what: 'open$ with an input', subscribe: ({ asking, input$ }) => asking.open$('p', { input: input$ }) },
    {
      what: 'open$ with observers of its reply headers, end and signal',
      subscribe: ({ asking }) =>
        asking.open$('p', {
          onOpen(stream) {
            stream.replyHeaders$.subscribe();
            void stream.closed;
            stream.signal.addEventListener('abort', () => undefined);
          },
        }),
    },
    { what: 'open$, shared', subscribe: ({ asking }) => asking.open$('p').pipe(share()) },
    { what: 'open$ in switchMap', subscribe: ({ asking }) => of(1, 2).pipe(switchMap(() => asking.open$('p'))) },
    { what: 'open', subscribe: ({ asking }) => defer(() => asking.open('p', { end: true })) },
    {
      what: 'open with two subscribers',
      subscribe: ({ asking }) =>
        defer(() => {
          const stream = asking.open('p', { end: true });
          return merge(stream, stream);
        }),
    },
    { what: 'through', subscribe: ({ asking, input$ }) => input$.pipe(through(asking, 'p')) },
    {
      what: 'reopenOnReconnect',
      subscribe: ({ asking }) => reopenOnReconnect(asking, { initial: 0, open: () => asking.open$('p'), cursor: () => 1 }),
    },
    {
      what: 'withCredit at the consumer',
      subscribe: ({ asking, finished }) =>
        withCredit(4).grant(
          (credit$) => asking.open$('p', { input: credit$.pipe(takeUntil(finished)) }),
          (item) => of(item),
        ),
    },
  ];

  describe.each(WAYS)('$what', ({ what, subscribe, settles }) => {
    it.each(ENDINGS)(`The call '${what}' holds nothing on either side when it $how`, async ({ piped, atOnce, end, connection, silent }) => {
      const empty = counts.held();
      const scene = joined(counts);
      await time.advance();
      const before = connection === true ? empty : counts.held();
      let ended = false;
      const given$ = subscribe(scene);
      const subscription = (piped === undefined ? given$ : given$.pipe(piped)).subscribe({
        error: () => (ended = true),
        complete: () => (ended = true),
      });
      if (atOnce === true) subscription.unsubscribe();
      else {
        await time.advance();
        expect(surplus(before, counts.held())).toHaveProperty('streams');
      }
      end(scene, () => subscription.unsubscribe(), time);
      await time.advance();
      // The other side needed only one value, and ends with its answer.
      if (settles === true) scene.answer$.complete();
      await time.advance(connection === true ? 0 : LONGEST_WATCH_MS);
      expect(ended).toBe(silent !== true);
      expect(surplus(before, counts.held())).toEqual({});
    });
  });
});

describe('promises', () => {
  const time = virtualPeerTime();
  const counts = counting(time);
  collectLogs();

  /** A call with a promise or without a result. Its stream is the newest of the scene's other side. */
  interface Way {
    readonly what: string;
    readonly call: (scene: Scene) => Promise<unknown>;
    /** Ends the call when its own end does not. */
    readonly afterwards?: (scene: Scene) => void;
  }

  const opened = ({ asking, abort }: Scene, end = true): Stream => asking.open('p', { end, signal: abort.signal, timeoutMs: 20_000 });

  async function loop(stream: Stream, enough: (value: unknown) => boolean): Promise<void> {
    for await (const value of stream) if (enough(value)) break;
  }

  const WAYS: readonly Way[] = [
    { what: 'request', call: ({ asking, abort }) => asking.request('p', { signal: abort.signal, timeoutMs: 20_000 }) },
    {
      what: 'request with retry',
      call: ({ asking, abort }) => asking.request('p', { signal: abort.signal, timeoutMs: 20_000, retry: 'safe' }),
    },
    { what: 'a loop over a stream', call: (scene) => loop(opened(scene), () => false) },
    { what: 'a loop that is left at the first value', call: (scene) => loop(opened(scene), () => true) },
    {
      what: 'a loop whose body throws',
      call: (scene) =>
        loop(opened(scene), () => {
          throw new Error('the body');
        }),
    },
    { what: 'a stream’s closed', call: (scene) => opened(scene).closed },
    {
      what: 'send and end',
      async call(scene) {
        const stream = opened(scene, false);
        stream.subscribe({ error: () => undefined });
        await stream.send('x'.repeat(300_000));
        await stream.end();
      },
    },
    {
      what: 'a send that waits for room',
      async call(scene) {
        const stream = opened(scene, false);
        stream.subscribe({ error: () => undefined });
        await scene.asking.ping();
        scene.link().stall('acceptor');
        await Promise.all(Array.from({ length: 40 }, () => stream.send('x'.repeat(64 * 1024))));
        await stream.end();
      },
      afterwards: ({ link }) => link().resume('acceptor'),
    },
    {
      what: 'sendAll',
      call(scene) {
        const stream = opened(scene, false);
        stream.subscribe({ error: () => undefined });
        return stream.sendAll(scene.input$);
      },
    },
  ];

  interface Ending {
    readonly how: string;
    readonly end: (scene: Scene) => void;
    readonly connection?: true;
  }

  const ENDINGS: readonly Ending[] = [
    {
      how: 'is answered',
      end({ answer$, finish }) {
        answer$.next('value');
        answer$.complete();
        finish();
      },
    },
    {
      how: 'is answered twice',
      end({ answer$, finish }) {
        answer$.next('value');
        answer$.next('value');
        answer$.complete();
        finish();
      },
    },
    { how: 'fails at the other side', end: ({ answer$ }) => answer$.error(new Error('the answer')) },
    { how: 'is reset', end: ({ remote }) => remote().reset(ResetCode.CANCEL, 'the remote') },
    { how: 'is aborted', end: ({ abort }) => abort.abort() },
    { how: 'runs out of time', end: () => undefined },
    { how: 'loses its connection', connection: true, end: ({ link }) => link().cut() },
    { how: 'has its peer closed', connection: true, end: ({ asking }) => void asking.close() },
    { how: 'has the other peer closed', connection: true, end: ({ asked }) => void asked().close() },
  ];

  describe.each(WAYS)('$what', ({ what, call, afterwards }) => {
    it.each(ENDINGS)(`The call '${what}' holds nothing on either side when it $how`, async ({ end, connection }) => {
      const empty = counts.held();
      const scene = joined(counts);
      await time.advance();
      const before = connection === true ? empty : counts.held();
      const outcome = settled(call(scene));
      await time.advance();
      expect(surplus(before, counts.held())).toHaveProperty('streams');
      end(scene);
      await time.advance();
      afterwards?.(scene);
      await time.advance(connection === true ? 0 : LONGEST_WATCH_MS);
      await outcome;
      expect(surplus(before, counts.held())).toEqual({});
    });
  });

  describe('a promise of a peer', () => {
    it.each<[string, (peer: Peer) => Promise<unknown>]>([
      ['ping', (peer) => peer.ping()],
      ['opened', (peer) => peer.opened],
      ['closed', (peer) => peer.closed],
      ['close', (peer) => peer.close()],
    ])('A promise of a peer holds nothing once it has settled: %s', async (_name, promised) => {
      const empty = counts.held();
      const { asking } = joined(counts);
      const outcome = settled(promised(asking));
      await time.advance();
      void asking.close();
      await time.advance(LONGEST_WATCH_MS);
      await outcome;
      expect(surplus(empty, counts.held())).toEqual({});
    });

    it('A pending ping holds only itself while the connection lives', async () => {
      const { asking } = joined(counts);
      await time.advance();
      const before = counts.held();
      const pings = Promise.all([asking.ping(), asking.ping()]);
      await time.advance();
      await pings;
      expect(surplus(before, counts.held())).toEqual({});
    });

    it('A peer has one promise closed, however often a program reads it', async () => {
      const { asking } = joined(counts);
      await time.advance();
      const first = asking.closed;
      const before = counts.held();
      const asked = Array.from({ length: 100 }, () => asking.closed);
      expect([new Set(asked).size, asked[0] === first, surplus(before, counts.held())]).toEqual([1, true, {}]);
    });
  });
});

describe('observables', () => {
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
});
