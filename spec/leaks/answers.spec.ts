import { describe, expect, it } from '@jest/globals';
import { asapScheduler, defer, from, map, merge, mergeMap, NEVER, of, Subject, Subscription, take, tap, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, ObservableInput, OperatorFunction } from 'rxjs';
import {
  assemble,
  connect,
  decode,
  demultiplex,
  encode,
  fragment,
  JsonCodec,
  ofDirection,
  ofStream,
  ofType,
  reopenOnReconnect,
  ResetCode,
  respond,
  retryWhenSafe,
  withCredit,
} from '../../src/index.js';
import type { ConnectOptions, Frame, FrameDirection, Peer, Stream } from '../../src/index.js';
import { createPair, createServer } from '../../src/testing.js';
import type { Link } from '../../src/testing.js';
import { counting, NOTHING } from '../support/peer/counting.js';
import type { Held } from '../support/peer/counting.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { dialed, LONGEST_WATCH_MS, present, surplus } from './scene.js';
import type { Scene } from './scene.js';

describe('answers', () => {
  const time = virtualPeerTime();
  const { held } = counting(time);
  collectLogs();

  /** A call, with the sources that answer and end it. */
  interface Scene {
    readonly dialer: Peer;
    readonly acceptor: Peer;
    readonly link: Link;
    /** The caller's values. */
    readonly input$: Subject<unknown>;
    /** The values of the answer. */
    readonly source$: Subject<unknown>;
    readonly finished: Promise<string>;
  }

  /** Answers every call with the result of `project`. */
  const responding =
    (project: (stream: Stream, scene: Scene) => ObservableInput<unknown>) =>
    (scene: Scene): Subscription =>
      scene.acceptor.streams$.pipe(respond((_, stream) => project(stream, scene))).subscribe();

  /** Answers every call with a handler. */
  const handling =
    (handler: (stream: Stream, scene: Scene) => unknown) =>
    (scene: Scene): Subscription =>
      new Subscription(scene.acceptor.onStream((_, stream) => handler(stream, scene)));

  const read = (stream: Stream): Subscription => stream.subscribe({ error: () => undefined });

  interface Way {
    readonly what: string;
    readonly answer: (scene: Scene) => Subscription;
  }

  const WAYS: readonly Way[] = [
    { what: 'respond with an Observable', answer: responding((_, { source$ }) => source$) },
    { what: 'respond with the stream itself', answer: responding((stream) => stream) },
    { what: 'respond with a reader beside the answer', answer: responding((stream, { source$ }) => merge(stream, source$)) },
    { what: 'respond with a promise', answer: responding((_, { finished }) => finished) },
    { what: 'respond with an array', answer: responding(() => ['a', 'b']) },
    {
      what: 'respond with an async generator',
      answer: responding(async function* (_, { finished }) {
        yield 'a';
        yield await finished;
      }),
    },
    {
      what: 'respond with a project that throws',
      answer: responding(() => {
        throw new Error('the project');
      }),
    },
    {
      what: 'respond with a call of another peer',
      answer: responding((stream, { acceptor, source$ }) => merge(source$, acceptor.open$('back', { input: stream }))),
    },
    { what: 'withCredit at the producer', answer: responding((stream, { source$ }) => withCredit(4).spend(stream)(source$)) },
    { what: 'a handler that returns nothing', answer: handling(() => undefined) },
    { what: 'a handler that returns sendAll', answer: handling((stream, { source$ }) => stream.sendAll(source$)) },
    {
      what: 'a handler that loops over the upload',
      answer: handling(async (stream, { finished }) => {
        for await (const value of stream) if (value === 'enough') break;
        await stream.reply(await finished);
      }),
    },
    {
      what: 'a handler that breaks out of the upload',
      answer: handling(async (stream) => {
        for await (const value of stream) if (value !== null) break;
        await stream.reply('enough');
      }),
    },
    {
      what: 'a handler that subscribes to the stream and listens to its signal',
      answer: handling((stream, { finished }) => {
        read(stream);
        stream.replyHeaders$.subscribe();
        stream.signal.addEventListener('abort', () => undefined);
        return finished;
      }),
    },
    {
      what: 'a handler that throws',
      answer: handling(() => {
        throw new Error('the handler');
      }),
    },
    {
      what: 'a subscriber of streams$',
      answer: ({ acceptor, source$ }) =>
        acceptor.streams$.subscribe((stream) => {
          read(stream);
          void stream.sendAll(source$);
        }),
    },
    { what: 'no handler', answer: () => new Subscription() },
  ];

  interface Ending {
    readonly how: string;
    readonly end: (scene: Scene & { readonly call: Subscription; readonly stream: Stream; readonly answering: Subscription }) => void;
    /** Whether the answering or the connection ends together with the streams. */
    readonly over?: 'the answering' | 'the connection';
  }

  const ENDINGS: readonly Ending[] = [
    {
      how: 'both sides complete',
      end({ source$, input$ }) {
        input$.complete();
        source$.complete();
      },
    },
    {
      how: 'the answer errors, and the input ends',
      end({ source$, input$ }) {
        source$.error(new Error('the source'));
        input$.complete();
      },
    },
    { how: 'the input errors', end: ({ input$ }) => input$.error(new Error('the input')) },
    { how: 'the caller unsubscribes', end: ({ call }) => call.unsubscribe() },
    { how: 'the caller resets', end: ({ stream }) => stream.reset(300, 'no more') },
    {
      how: 'the answering is unsubscribed',
      over: 'the answering',
      end: ({ answering, call }) => [answering, call].forEach((each) => each.unsubscribe()),
    },
    { how: 'the connection is lost', over: 'the connection', end: ({ link }) => link.cut() },
    { how: 'the caller’s peer is closed', over: 'the connection', end: ({ dialer }) => void dialer.close() },
    { how: 'the answering peer is closed', over: 'the connection', end: ({ acceptor }) => void acceptor.close() },
  ];

  describe.each(WAYS)('answered by $what', ({ what, answer }) => {
    it.each(ENDINGS)(`A stream answered by ${what} leaves nothing on either side when $how`, async ({ end, over }) => {
      const empty = held();
      const { dialer, acceptor, link } = createPair();
      dialer.onStream((_, stream) => stream.sendAll(from(stream)));
      await time.advance();
      const quiet = held();
      let finish: (value: string) => void = () => undefined;
      const finished = new Promise<string>((resolve) => (finish = resolve));
      const scene: Scene = { dialer, acceptor, link, finished, input$: new Subject(), source$: new Subject() };
      const answering = answer(scene);
      const before = { 'the connection': empty, 'the answering': quiet, 'its streams': held() }[over ?? 'its streams'];
      let stream: Stream | null = null;
      const call = dialer
        .open$('p', { input: defer(() => merge(of('first'), scene.input$)).pipe(map(String)), onOpen: (opened) => (stream = opened) })
        .subscribe({ error: () => undefined });
      await time.advance();
      end({ ...scene, call, answering, stream: present<Stream>(stream) });
      await time.advance();
      // A handler's own work is not interrupted. The test counts what the work leaves.
      finish('finished');
      await time.advance(over === 'the connection' ? 0 : LONGEST_WATCH_MS);
      expect(surplus(before, held())).toEqual({});
    });
  });
});

describe('operators', () => {
  const time = virtualPeerTime();
  const { held } = counting(time);

  const codec = new JsonCodec();
  const frame: Frame = { type: 'data', stream: 1, payload: 'x'.repeat(100) };
  const event = { direction: 'rx' as FrameDirection, frame };

  /** An operator over a hot source, and a value that makes it emit. */
  interface Over {
    readonly what: string;
    readonly value: never;
    readonly operator: OperatorFunction<never, unknown>;
  }

  const over = <T>(what: string, value: T, operator: OperatorFunction<T, unknown>): Over => ({ what, value: value as never, operator });

  const OPERATORS: readonly Over[] = [
    over('decode', '{"type":"ping"}', decode(codec)),
    over('encode', frame, encode(codec)),
    over('fragment', frame, fragment(codec, 60)),
    over('assemble', frame, assemble(codec)),
    over<Frame>('assemble, with a fragment outstanding', { type: 'data', stream: 1, fragment: '"a', more: true }, (frame$) =>
      frame$.pipe(
        mergeMap((part) => of(part, { type: 'data', stream: 3, payload: 1 })),
        assemble(codec),
      ),
    ),
    over('demultiplex', frame, demultiplex()),
    over<Frame>('demultiplex whose groups are read', frame, (frame$) =>
      frame$.pipe(
        demultiplex(),
        mergeMap((group) => group),
      ),
    ),
    over('demultiplex to sinks', frame, demultiplex<Frame>(new Map())),
    over('ofType', event, ofType('data')),
    over('ofStream', event, ofStream(1)),
    over('ofDirection', event, ofDirection('rx')),
    over('retryWhenSafe', frame, retryWhenSafe()),
    over<Frame>('withCredit', frame, withCredit(2).spend(of(4))),
  ];

  interface Ending {
    readonly how: string;
    readonly piped?: MonoTypeOperatorFunction<unknown>;
    readonly end: (source$: Subject<never>, value: never, unsubscribe: () => void) => void;
  }

  const ENDINGS: readonly Ending[] = [
    { how: 'completes', end: (source$) => source$.complete() },
    {
      how: 'completes after a value',
      end(source$, value) {
        source$.next(value);
        source$.complete();
      },
    },
    { how: 'errors', end: (source$) => source$.error(new Error('the source')) },
    {
      how: 'is unsubscribed',
      end(source$, value, unsubscribe) {
        source$.next(value);
        unsubscribe();
      },
    },
    { how: 'is enough after one value', piped: take(1), end: (source$, value) => source$.next(value) },
    {
      how: 'meets a callback that throws',
      piped: tap(() => {
        throw new Error('a callback');
      }),
      end: (source$, value) => source$.next(value),
    },
  ];

  describe.each(OPERATORS)('$what', ({ what, value, operator }) => {
    it.each(ENDINGS)(`The operator ${what} holds nothing when it $how`, async ({ piped = map((passed) => passed), end }) => {
      const before = held();
      const source$ = new Subject<never>();
      const subscription = source$.pipe(operator, piped).subscribe({ error: () => undefined });
      expect(surplus(before, held())).toHaveProperty('subscriptions');
      end(source$, value, () => subscription.unsubscribe());
      await time.advance();
      expect([surplus(before, held()), source$.observed]).toEqual([{}, false]);
    });
  });

  describe('an operator that fails on its input', () => {
    it.each<[string, unknown, OperatorFunction<never, unknown>]>([
      ['decode', 'no frame', decode(codec)],
      ['encode', { type: 'data', payload: 1n }, encode(codec)],
      ['fragment', { type: 'data', stream: 1, headers: { long: 'x'.repeat(100) }, payload: 'a' }, fragment(codec, 60)],
      ['demultiplex to a sink that throws', frame, demultiplex(new Map([[1, { next: () => JSON.parse('{') as void }]]))],
    ])('An operator that fails on its input holds nothing: %s', (_name, value, operator) => {
      const before = held();
      const source$ = new Subject<never>();
      let failed = 0;
      source$.pipe(operator).subscribe({ error: () => failed++ });
      source$.next(value as never);
      expect([failed, surplus(before, held()), source$.observed]).toEqual([1, {}, false]);
    });
  });
});

describe('connecting', () => {
  const time = virtualPeerTime();
  const counts = counting(time);
  collectLogs();

  /** A call that is made without a connection, or that outlives one. */
  interface Way {
    readonly what: string;
    readonly subscribe: (scene: Scene) => Observable<unknown>;
  }

  const WAYS: readonly Way[] = [
    { what: 'request$', subscribe: ({ asking, abort }) => asking.request$('p', { signal: abort.signal }) },
    { what: 'request$ with retry', subscribe: ({ asking, abort }) => asking.request$('p', { signal: abort.signal, retry: 'safe' }) },
    { what: 'open$', subscribe: ({ asking, abort }) => asking.open$('p', { signal: abort.signal, timeoutMs: 20_000 }) },
    { what: 'open$ with an input', subscribe: ({ asking, abort, input$ }) => asking.open$('p', { signal: abort.signal, input: input$ }) },
    {
      what: 'reopenOnReconnect',
      subscribe: ({ asking, abort }) =>
        reopenOnReconnect(asking, { initial: 0, open: () => asking.open$('p', { signal: abort.signal }), cursor: () => 1 }),
    },
  ];

  interface Ending {
    readonly how: string;
    readonly end: (scene: Scene, unsubscribe: () => void) => void;
    /** The time before it, in ms. */
    readonly after?: number;
    readonly options?: ConnectOptions;
  }

  const ENDINGS: readonly Ending[] = [
    { how: 'unsubscribed at once', end: (_, unsubscribe) => unsubscribe() },
    { how: 'unsubscribed between two dials', after: 10, end: (_, unsubscribe) => unsubscribe() },
    { how: 'aborted', after: 10, end: ({ abort }) => abort.abort() },
    { how: 'failed, as its peer is closed', after: 10, end: ({ asking }) => void asking.close() },
    { how: 'failed, as there are no more dials', options: { reconnect: { maxAttempts: 2 } }, end: () => undefined },
    { how: 'failed, as there is only one dial', options: { reconnect: false }, end: () => undefined },
  ];

  describe.each(WAYS)('$what without a connection', ({ what, subscribe }) => {
    it.each(ENDINGS)(`The call '${what}' without a connection holds nothing when it is $how`, async ({ end, after, options }) => {
      const empty = counts.held();
      const scene = dialed(counts, { reconnect: true, ...options }, true);
      const subscription = subscribe(scene).subscribe({ error: () => undefined });
      expect(surplus(empty, counts.held())).toHaveProperty('waiting');
      if (after !== undefined) await time.advance(after);
      end(scene, () => subscription.unsubscribe());
      await time.advance(LONGEST_WATCH_MS);
      expect(counts.held().waiting).toBe(0);
      void scene.asking.close();
      await time.advance();
      // The server of the scene lives on. The error listener of each ended socket stays on the socket.
      expect(surplus(empty, { ...counts.held(), listeners: 0 })).toEqual({ subscriptions: 1 });
    });
  });

  /** Events that end a connection and start the reconnect helper. */
  const BEFALLS: readonly { readonly what: string; readonly befall: (scene: Scene) => void }[] = [
    { what: 'a lost socket', befall: ({ link }) => link().cut() },
    { what: 'a goaway', befall: ({ asked }) => void asked().close({ drainMs: 1_000 }) },
    { what: 'a goaway with an error', befall: ({ asked }) => void asked().close({ code: ResetCode.INTERNAL_ERROR }) },
  ];

  describe.each(BEFALLS)('after $what', ({ what: event, befall }) => {
    it.each(WAYS)(`After ${event} the call '$what' leaves no more on the new connection than on the first`, async ({ subscribe }) => {
      const empty = counts.held();
      const scene = dialed(counts, { reconnect: { minDelayMs: 1, maxDelayMs: 1 } });
      // A timer runs until the socket counts as stable.
      await time.advance(LONGEST_WATCH_MS);
      const idle = counts.held();
      const subscription = subscribe(scene).subscribe({ error: () => undefined });
      await time.advance();
      befall(scene);
      await time.advance(5_000);
      subscription.unsubscribe();
      scene.abort.abort();
      await time.advance(LONGEST_WATCH_MS);
      expect(scene.asking.status).toEqual({ state: 'open', reconnects: 1 });
      // The error listener stays on the ended socket.
      expect(surplus(idle, counts.held())).toEqual({ listeners: 1 });
      void scene.asking.close();
      await time.advance();
      expect(surplus(empty, { ...counts.held(), listeners: 0 })).toEqual({ subscriptions: 1 });
    });
  });

  describe.each([0, 1_000, LONGEST_WATCH_MS])('a dial, %d ms later,', (after) => {
    it.each<[string, ConnectOptions, boolean]>([
      ['is refused', { reconnect: false }, true],
      ['is refused again and again', { reconnect: { maxAttempts: 3 } }, true],
      ['has its hello refused', { hello: () => ({ payload: 'me' }), helloTimeoutMs: 100 }, false],
      [
        'has a hello that throws',
        {
          hello: () => {
            throw new Error('no hello');
          },
        },
        false,
      ],
      ['opens', {}, false],
      ['is never requested', { lazy: true }, false],
    ])(
      `A dial that %s leaves a closed peer with only the error listeners on its sockets ${after} ms later`,
      async (_what, options, refused) => {
        const empty = counts.held();
        const scene = dialed(counts, options, refused);
        const states: string[] = [];
        scene.asking.status$.pipe(take(10)).subscribe(({ state }) => states.push(state));
        await time.advance(after);
        void scene.asking.close();
        await time.advance();
        expect(states.at(-1)).toBe('closed');
        const sockets = options.lazy === true ? 0 : states.filter((state) => state === 'connecting').length;
        expect(surplus(empty, counts.held())).toEqual({ subscriptions: 1, ...(sockets === 0 ? {} : { listeners: sockets }) });
      },
    );
  });
});

describe('counting', () => {
  const time = virtualPeerTime();
  const { held, watch } = counting(time);

  describe('the counter of held things', () => {
    collectLogs();

    it('The counter counts nothing when nothing is held', () => {
      of(1).subscribe();
      expect(held()).toEqual(NOTHING);
    });

    it.each<[what: string, kind: keyof Held, leak: () => () => void]>([
      [
        'a subscriber of a Subject',
        'subscriptions',
        () => {
          const leak = new Subject().subscribe();
          return () => leak.unsubscribe();
        },
      ],
      [
        'a subscription to NEVER',
        'subscriptions',
        () => {
          const leak = NEVER.subscribe();
          return () => leak.unsubscribe();
        },
      ],
      [
        'a timer',
        'timers',
        () => {
          const leak = timer(1_000).subscribe();
          return () => leak.unsubscribe();
        },
      ],
      [
        'an asap task',
        'timers',
        () => {
          const leak = asapScheduler.schedule(() => undefined);
          return () => leak.unsubscribe();
        },
      ],
      [
        'a listener of a signal',
        'listeners',
        () => {
          const { signal } = new AbortController();
          const leak = (): void => undefined;
          watch(signal);
          signal.addEventListener('abort', leak);
          return () => signal.removeEventListener('abort', leak);
        },
      ],
      [
        'a listener of a socket',
        'listeners',
        () => {
          const socket = createServer().socket('ws://test', 'mux.v1.json');
          const leak = (): void => undefined;
          socket.addEventListener('message', leak);
          return () => socket.removeEventListener('message', leak);
        },
      ],
      [
        'a hook',
        'hooks',
        () => {
          const { dialer } = createPair();
          return dialer.onClose(() => undefined);
        },
      ],
      [
        'a subscriber of streams$',
        'hooks',
        () => {
          const { acceptor } = createPair();
          const leak = acceptor.streams$.subscribe();
          return () => leak.unsubscribe();
        },
      ],
      [
        'a live stream',
        'streams',
        () => {
          const { dialer } = createPair();
          const leak = dialer.open('a');
          return () => leak.reset();
        },
      ],
      [
        'a waiting open',
        'waiting',
        () => {
          const leak = connect('ws://test', { lazy: true, connectTimeoutMs: 0, socket: createServer().socket }).open('a');
          return () => leak.reset();
        },
      ],
    ])('The counter sees a planted leak, and its end: %s', async (_what, kind, plant) => {
      const mend = plant();
      expect(held()[kind]).toBeGreaterThan(0);
      mend();
      await time.advance();
      expect(held()[kind]).toBe(0);
    });
  });
});
