import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  config,
  EmptyError,
  firstValueFrom,
  from,
  interval,
  lastValueFrom,
  map,
  NEVER,
  of,
  Subject,
  Subscription,
  switchMap,
  UnsubscriptionError,
} from 'rxjs';
import type { Observable } from 'rxjs';
import {
  interceptIncomingHeaders,
  interceptOpen,
  interceptReplyHeaders,
  isMuxError,
  observeFrames,
  reopenOnReconnect,
  ResetCode,
  respond,
  through,
  withCredit,
} from '../../src/index.js';
import type { ConnectUrl, Peer, Stream } from '../../src/index.js';
import type { StreamHandler } from '../../src/peer/hooks.js';
import { createPair } from '../../src/testing.js';
import { ADDRESS, dialing, holding, SOON } from '../support/peer/dialing.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { throws } from '../support/peer/user-code.js';

describe('open observable', () => {
  const time = virtualPeerTime();

  let told: unknown[] = [];
  beforeEach(() => {
    told = [];
    config.onUnhandledError = (error: unknown) => told.push(`unhandled: ${String(error)}`);
  });
  afterEach(() => {
    config.onUnhandledError = null;
  });

  /** Answers with two values and an end. */
  const counts: StreamHandler = (_, stream) => {
    void stream.send(1);
    return stream.reply(2);
  };
  /** Answers with one value, and keeps the stream. */
  const stays: StreamHandler = (_, stream) => {
    void stream.send(1);
    return new Promise(() => undefined);
  };
  const fails: StreamHandler = (_, stream) => {
    void stream.send(1);
    stream.reset(300, 'no');
  };

  const UNSUBSCRIBED = { type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' };

  /** Records each event in `told`. */
  const tell = {
    next: (value: unknown) => void told.push(value),
    error: (error: unknown) => void told.push(String(error)),
    complete: () => void told.push('complete'),
  };

  class Counter {
    seen = 0;

    next(): void {
      this.seen++;
    }

    complete(): void {
      told.push(`${this.seen} seen`);
    }
  }

  interface Row {
    readonly title: string;
    readonly handler: StreamHandler;
    readonly payload?: unknown;
    readonly subscribe: (received$: Observable<unknown>) => Subscription;
    readonly later?: (subscription: Subscription) => void;
    readonly told: readonly unknown[];
    /** Frames after the open. */
    readonly sent?: readonly unknown[];
    readonly closed: boolean;
  }

  /** The signature with functions, which rxjs has deprecated and many programs use. */
  function withFunctions(received$: Observable<unknown>, ...handlers: unknown[]): Subscription {
    const { subscribe } = received$ as { readonly subscribe: (...given: unknown[]) => Subscription };
    return subscribe.apply(received$, handlers);
  }

  const no = throws('no');

  const ROWS: readonly Row[] = [
    { title: 'an observer', handler: counts, subscribe: ($) => $.subscribe(tell), told: [1, 2, 'complete'], closed: true },
    {
      title: 'three functions',
      handler: counts,
      subscribe: ($) => withFunctions($, tell.next, tell.error, tell.complete),
      told: [1, 2, 'complete'],
      closed: true,
    },
    { title: 'one function', handler: counts, subscribe: ($) => $.subscribe(tell.next), told: [1, 2], closed: true },
    { title: 'nothing', handler: counts, subscribe: ($) => $.subscribe(), told: [], closed: true },
    {
      title: 'null in place of handlers',
      handler: counts,
      subscribe: ($) => withFunctions($, null, null, tell.complete),
      told: ['complete'],
      closed: true,
    },
    {
      title: 'an observer whose handlers use this',
      handler: counts,
      subscribe: ($) => $.subscribe(new Counter()),
      told: ['2 seen'],
      closed: true,
    },
    {
      title: 'a Subject',
      handler: counts,
      subscribe: ($) => {
        const subject = new Subject<unknown>();
        subject.subscribe(tell);
        return $.subscribe(subject);
      },
      told: [1, 2, 'complete'],
      closed: true,
    },
    {
      title: 'a Subject whose next throws',
      handler: counts,
      subscribe: ($) => $.subscribe(Object.assign(new Subject<unknown>(), { next: no })),
      told: ['unhandled: Error: no', 'unhandled: Error: no'],
      closed: true,
    },
    {
      title: 'an observer of a stream that is reset',
      handler: fails,
      subscribe: ($) => $.subscribe(tell),
      told: [1, 'ResetError: stream 1: reset with 300: no'],
      closed: true,
    },
    {
      title: 'an observer without an error handler',
      handler: fails,
      subscribe: ($) => $.subscribe({ next: tell.next }),
      told: [1, 'unhandled: ResetError: stream 1: reset with 300: no'],
      closed: true,
    },
    {
      title: 'a next that throws',
      handler: counts,
      subscribe: ($) => $.subscribe({ next: no, complete: tell.complete }),
      told: ['complete', 'unhandled: Error: no', 'unhandled: Error: no'],
      closed: true,
    },
    {
      title: 'an error handler that throws',
      handler: fails,
      subscribe: ($) => $.subscribe({ error: no }),
      told: ['unhandled: Error: no'],
      closed: true,
    },
    {
      title: 'a complete that throws',
      handler: counts,
      subscribe: ($) => $.subscribe({ complete: no }),
      told: ['unhandled: Error: no'],
      closed: true,
    },
    {
      title: 'a payload that cannot be sent',
      handler: counts,
      payload: 1n,
      subscribe: ($) => $.subscribe(tell),
      told: ["TypeError: codec 'json': expected a value it can carry at payload, got a bigint: try String(n) or rxmux/rich"],
      closed: true,
    },
    {
      title: 'a payload that cannot be sent, without an error handler',
      handler: counts,
      payload: 1n,
      subscribe: ($) => $.subscribe(),
      told: ["unhandled: TypeError: codec 'json': expected a value it can carry at payload, got a bigint: try String(n) or rxmux/rich"],
      closed: true,
    },
    { title: 'an observer of a stream that stays', handler: stays, subscribe: ($) => $.subscribe(tell), told: [1], closed: false },
    {
      title: 'an observer that leaves',
      handler: stays,
      subscribe: ($) => $.subscribe(tell),
      later: (subscription) => {
        subscription.unsubscribe();
        subscription.unsubscribe();
      },
      told: [1],
      sent: [UNSUBSCRIBED],
      closed: true,
    },
    {
      title: 'an observer that leaves with others',
      handler: stays,
      subscribe: ($) => {
        const all = new Subscription();
        all.add($.subscribe(tell));
        return all;
      },
      later: (all) => {
        all.unsubscribe();
      },
      told: [1],
      sent: [UNSUBSCRIBED],
      closed: true,
    },
    {
      title: 'an observer that leaves while it receives the first value',
      handler: counts,
      subscribe: ($) => {
        const all = new Subscription();
        const tellOnce = (value: unknown): void => {
          told.push(value);
          all.unsubscribe();
        };
        all.add($.subscribe({ ...tell, next: tellOnce }));
        return all;
      },
      told: [1],
      sent: [UNSUBSCRIBED],
      closed: true,
    },
    {
      title: 'a teardown added to a subscription',
      handler: counts,
      subscribe: ($) => {
        const subscription = $.subscribe(tell);
        subscription.add(() => void told.push('torn down'));
        return subscription;
      },
      told: [1, 2, 'complete', 'torn down'],
      closed: true,
    },
    {
      title: 'a teardown added to a subscription that throws',
      handler: stays,
      subscribe: ($) => {
        const subscription = $.subscribe(tell);
        subscription.add(no);
        return subscription;
      },
      later: (subscription) => {
        expect(() => {
          subscription.unsubscribe();
        }).toThrow(UnsubscriptionError);
      },
      told: [1],
      sent: [UNSUBSCRIBED],
      closed: true,
    },
  ];

  /** An operator puts a subscriber of rxjs before the observer: its behaviour is the expected one. */
  describe.each([
    ['to `open$` itself', ($: Observable<unknown>) => $],
    ['through an operator', ($: Observable<unknown>) => $.pipe(map((value) => value))],
  ])('Subscriptions %s', (_where, piped) => {
    it.each(ROWS)('`open$` serves $title', async ({ handler, payload = 'p', subscribe, later, told: expected, sent = [], closed }) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(handler);
      const frames = framesOf(dialer);
      const subscription = subscribe(piped(dialer.open$(payload)));
      await time.advance();
      later?.(subscription);
      await time.advance();
      expect(told).toEqual(expected);
      expect(frames.slice(1)).toEqual(sent);
      expect(subscription.closed).toBe(closed);
    });
  });
});

describe('hot and cold', () => {
  collectLogs();

  const time = virtualPeerTime();

  /** Calls that open a stream for each subscription. */
  const COLD: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
    ['open$', (peer) => peer.open$('p')],
    ['open$ with an input', (peer) => peer.open$('p', { input: from([1, 2]) })],
    ['open$ with retry', (peer) => peer.open$('p', { retry: 'safe' })],
    ['through', (peer) => of(1).pipe(through(peer, 'p'))],
    ['reopenOnReconnect', (peer) => reopenOnReconnect(peer, { open: () => peer.open$('p') })],
    ['the consumer of withCredit', (peer) => withCredit(2).grant((credit$) => peer.open$('p', { input: credit$ }))],
  ];

  describe.each(COLD)('Cold %s', (_what, call) => {
    it('A cold call sends no frame before a subscription, and opens a stream for each, whether they overlap or not', async () => {
      const { dialer, acceptor } = createPair();
      const remotes = new Subject<unknown>();
      acceptor.onStream((_, stream) => {
        stream.subscribe({ error: () => undefined });
        void stream.send(`of ${String(stream.id)}`);
        return firstValueFrom(remotes, { defaultValue: null });
      });
      const frames = framesOf(dialer);
      const opened = (): unknown[] => frames.filter(({ type }) => type === 'open').map(({ stream }) => stream);
      const reset = (): unknown[] => frames.filter(({ type }) => type === 'reset').map(({ stream }) => stream);
      const call$ = call(dialer);
      await time.advance();
      expect(opened()).toEqual([]);
      const told: unknown[] = [];
      const first = call$.subscribe((value) => told.push(value));
      const second = call$.subscribe((value) => told.push(value));
      await time.advance();
      expect([opened(), told]).toEqual([
        [1, 3],
        ['of 1', 'of 3'],
      ]);
      first.unsubscribe();
      await time.advance();
      expect(reset()).toEqual([1]);
      second.unsubscribe();
      const third = call$.subscribe((value) => told.push(value));
      await time.advance();
      expect([opened(), reset(), told[2]]).toEqual([[1, 3, 5], [1, 3], 'of 5']);
      third.unsubscribe();
      await time.advance();
      expect(reset()).toEqual([1, 3, 5]);
    });
  });

  /** Observables that emit the same events to every subscriber, from the subscription on. */
  const HOT: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
    ['streams$', ({ streams$ }) => streams$.pipe(map(({ payload }) => payload))],
    ['frames$', ({ frames$ }) => frames$.pipe(map(({ direction, frame }) => `${direction} ${frame.type}`))],
  ];

  describe.each(HOT)('Hot %s', (_what, watched) => {
    it('A hot observable emits the same to every subscriber from its subscription on, sends nothing, and completes with the peer', async () => {
      const { dialer, acceptor } = createPair();
      const frames = framesOf(acceptor);
      const watched$ = watched(acceptor);
      const told: [unknown[], unknown[], unknown[]] = [[], [], []];
      watched$.subscribe((event) => told[0].push(event));
      const early = watched$.subscribe((event) => told[1].push(event));
      await time.advance();
      expect(frames).toEqual([]);
      dialer.notify('one');
      await time.advance();
      early.unsubscribe();
      watched$.subscribe((event) => told[2].push(event));
      dialer.notify('two');
      await time.advance();
      const [all, until, since] = told;
      expect(all.length).toBeGreaterThan(1);
      expect([until, since]).toEqual([all.slice(0, until.length), all.slice(until.length)]);
      expect(until.length * 2).toBe(all.length);
      void dialer.close();
      await time.advance();
      expect(await lastValueFrom(watched$, { defaultValue: 'complete' })).toBe('complete');
    });
  });

  describe('Call as a promise', () => {
    it.each<[string, (call$: Observable<unknown>) => Promise<unknown>, unknown]>([
      ['firstValueFrom of an empty answer rejects with EmptyError', (call$) => firstValueFrom(call$), { error: expect.any(EmptyError) }],
      ['lastValueFrom of an empty answer rejects with EmptyError', (call$) => lastValueFrom(call$), { error: expect.any(EmptyError) }],
      ['firstValueFrom of an empty answer resolves with its default', (call$) => firstValueFrom(call$, { defaultValue: 7 }), { value: 7 }],
      ['lastValueFrom of an empty answer resolves with its default', (call$) => lastValueFrom(call$, { defaultValue: 7 }), { value: 7 }],
    ])('`%s`', async (_what, promise, outcome) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => stream.end());
      const frames = framesOf(dialer);
      const outcomes = [dialer.open$('p'), dialer.open('p', { end: true })].map((call$) => settled(promise(call$)));
      await time.advance();
      expect(await Promise.all(outcomes)).toEqual([outcome, outcome]);
      expect(frames.map(({ type }) => type)).toEqual(['open', 'open']);
    });

    it.each<[string, (peer: Peer) => Observable<unknown>]>([
      ['open$', (peer) => peer.open$('p')],
      ['open$ with an input', (peer) => peer.open$('p', { input: NEVER })],
      ['a stream', (peer) => peer.open('p')],
    ])('`firstValueFrom` of %s cancels the rest, once', async (_what, call) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        void stream.send('first');
        void stream.send('second');
        return stream.closed;
      });
      const frames = framesOf(dialer);
      const first = firstValueFrom(call(dialer));
      await time.advance();
      expect(await first).toBe('first');
      expect(frames.slice(1)).toEqual([{ type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' }]);
    });
  });
});

describe('reopening', () => {
  const time = virtualPeerTime();

  /** The events of a subscription: the code of each library error, each other error, and the completion. */
  function toldOf(source$: Observable<unknown>): readonly unknown[] {
    const told: unknown[] = [];
    source$.subscribe({
      error: (error: unknown) => told.push(isMuxError(error) ? error.code : error),
      complete: () => told.push('complete'),
    });
    return told;
  }

  describe('`reopenOnReconnect` over a peer whose stream calls another peer', () => {
    function twoPeers(url: ConnectUrl = ADDRESS) {
      const ids = new Network({ onStream: (_, stream) => stream.sendAll(interval(100)) });
      const rows = holding();
      return { ids, rows, followed: dialing(ids, { reconnect: SOON }, url), asked: dialing(rows) };
    }

    it.each<[string, string, (rows: Network, asked: Peer) => unknown]>([
      ['loses its connection', 'CONNECTION_LOST', ({ last }) => last.link.cut()],
      ['is closed, and refuses', 'CANCELLED', (_, asked) => asked.close()],
      ['has gone away, and refuses', 'REFUSED', ({ last }) => last.peer.close({ drainMs: 10_000 })],
    ])('`reopenOnReconnect` errors when the other peer of its stream %s', async (_what, code, end) => {
      const { followed, asked, rows } = twoPeers();
      const told = toldOf(
        reopenOnReconnect(followed, { open: () => followed.open$<number>('ids').pipe(switchMap((id) => asked.request$(id))) }),
      );
      await time.advance(150);
      end(rows, asked);
      await time.advance(3_600_000);
      expect([told, followed.status]).toEqual([[code], { state: 'open', reconnects: 0 }]);
      void followed.close();
    });

    it('`reopenOnReconnect` reopens once it is connected, if the other peer was lost before', async () => {
      let connect: (url: string) => void = () => undefined;
      const { followed, asked, rows } = twoPeers(
        () =>
          new Promise((resolve) => {
            connect = resolve;
          }),
      );
      let opened = 0;
      const open = (): Observable<unknown> => {
        opened++;
        return asked.request$(opened);
      };
      const told = toldOf(reopenOnReconnect(followed, { open }));
      await time.advance(10);
      rows.last.link.cut();
      await time.advance(10);
      expect([opened, told]).toEqual([1, []]);
      connect(ADDRESS);
      await time.advance(10);
      expect([opened, told]).toEqual([2, ['REFUSED']]);
      void followed.close();
    });
  });

  describe('`reopenOnReconnect` over a drained socket without a successor', () => {
    async function drained(drain: (followed: Peer, server: Peer) => unknown) {
      const streams: Stream[] = [];
      const network = new Network({
        onStream: (_, stream) => {
          streams.push(stream);
          return new Promise(() => undefined);
        },
      });
      const followed = dialing(network, { reconnect: SOON });
      const told = toldOf(reopenOnReconnect(followed, { open: () => followed.open$('p') }));
      await time.advance(10);
      const { peer: server } = network.last;
      network.answer = 'silence';
      void drain(followed, server);
      await time.advance(10);
      expect([told, followed.status.state, streams.length]).toEqual([[], 'draining', 1]);
      return { told, streams, end: () => Promise.all([followed.close(), server.close()]) };
    }

    it.each<[what: string, code: ResetCode, told: string]>([
      ['the failure of its stream', 300, 'RESET'],
      ['the refusal of its stream', ResetCode.REFUSED, 'REFUSED'],
    ])('`reopenOnReconnect` reports %s, even when the server goes away', async (_what, code, expected) => {
      const { told, streams, end } = await drained((_followed, server) => server.close({ drainMs: 10_000 }));
      streams[0]?.reset(code);
      await time.advance(10);
      expect([told, streams.length]).toEqual([[expected], 1]);
      void end();
    });

    it('`reopenOnReconnect` reports a cancel by the server while this side drains', async () => {
      const { told, streams, end } = await drained((followed) => followed.close({ drainMs: 10_000 }));
      streams[0]?.reset();
      await time.advance(10);
      expect(told).toEqual(['RESET']);
      void end();
    });
  });
});

describe('operator arguments', () => {
  virtualPeerTime();

  /** A value from a program without types. */
  const given = (value: unknown): never => value as never;

  describe('Arguments of operators over peers and streams', () => {
    it.each<[string, () => unknown, string]>([
      ['observeFrames', () => observeFrames(given(undefined)), 'observeFrames: expected a function, got undefined'],
      ['interceptOpen', () => interceptOpen(given({})), 'interceptOpen: expected a function, got an object'],
      ['interceptReplyHeaders', () => interceptReplyHeaders(given('a')), "interceptReplyHeaders: expected a function, got 'a'"],
      ['interceptIncomingHeaders', () => interceptIncomingHeaders(given(null)), 'interceptIncomingHeaders: expected a function, got null'],
      ['respond', () => respond(given([1])), 'respond: expected a function, got an array'],
      ['the options of respond', () => respond(() => of(1), given(null)), 'options: expected an object, got null'],
      ['withCredit().grant', () => withCredit(1).grant(given(1)), 'grant.open: expected a function, got 1'],
      ['the work of withCredit().grant', () => withCredit(1).grant(() => [], given(1)), 'grant.work: expected a function, got 1'],
      ['withCredit().spend', () => withCredit(1).spend(given(undefined)), 'spend: expected the stream of the consumer, got undefined'],
      [
        'spend over a promise',
        () => withCredit(1).spend(given(Promise.resolve(1))),
        'spend: expected the stream of the consumer, got an object',
      ],
      ['the options of spend', () => withCredit(1).spend(of(1), given('latest')), "spend: expected { overflow }, got 'latest'"],
    ])('%s throws for a wrong argument when it is called', (_name, make, message) => {
      expect(make).toThrow(new TypeError(message));
    });

    it.each([
      { options: { input: of(9) }, says: "options: expected one of headers, signal, timeoutMs, onOpen, retry, overflow, got 'input'" },
      { options: 'latest', says: "options: expected an object, got 'latest'" },
      { options: null, says: 'options: expected an object, got null' },
    ])('`through` throws for $options when it is called', ({ options, says }) => {
      expect(() => through(createPair().dialer, 'squares', given(options))).toThrow(new TypeError(says));
    });

    it.each<[string, unknown, string]>([
      ['no options', undefined, 'reopenOnReconnect: expected { open }, got undefined'],
      ['a function in place of options', () => [], 'reopenOnReconnect: expected { open }, got a function'],
      ['no `open`', {}, 'reopenOnReconnect.open: expected a function, got undefined'],
      ['an `initial` without a cursor', { initial: 0, open: () => [] }, 'reopenOnReconnect.cursor: expected a function, got undefined'],
      ['a number as cursor', { open: () => [], cursor: 1 }, 'reopenOnReconnect.cursor: expected a function, got 1'],
    ])('`reopenOnReconnect` throws for %s when it is called', (_what, options, message) => {
      const { dialer } = createPair();
      expect(() => reopenOnReconnect(dialer, given(options))).toThrow(new TypeError(message));
    });

    it.each([
      [undefined, 'undefined'],
      [null, 'null'],
      ['ws://localhost', "'ws://localhost'"],
      [{}, 'an object'],
    ])('`reopenOnReconnect` and `through` refuse %p as a peer', (peer, got) => {
      expect(() => reopenOnReconnect(given(peer), { open: () => [] })).toThrow(
        new TypeError(`reopenOnReconnect: expected a Peer, got ${got}`),
      );
      expect(() => through(given(peer))).toThrow(new TypeError(`through: expected a Peer, got ${got}`));
    });
  });

  it('`through` throws for an unknown overflow when it is piped', () => {
    const { dialer } = createPair();
    const operator = through(dialer, 'p', { overflow: given('newest') });
    expect(() => of(1).pipe(operator)).toThrow(TypeError);
  });
});
