import { afterEach, describe, expect, it } from '@jest/globals';
import { config, defer, EMPTY, firstValueFrom, from, NEVER, of, retry, Subject, throwError, timer } from 'rxjs';
import type { Observable, Observer } from 'rxjs';
import {
  connect,
  ConnectError,
  isMuxError,
  MuxError,
  RefusedError,
  reopenOnReconnect,
  ResetError,
  respond,
  retryWhenSafe,
  StreamError,
  through,
} from '../../src/index.js';
import type { AnyMuxError, ConnectOptions, OpenOptions, Peer, Retry, Stream, StreamHandler } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import type { Pair, PairOptions } from '../../src/testing.js';
import { answers, refuses } from '../support/peer/answers.js';
import { dialing, SOON } from '../support/peer/dialing.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { throws } from '../support/peer/user-code.js';

describe('errors', () => {
  const time = virtualPeerTime();
  // After the clock, whose last steps bring refusals.
  collectLogs();

  /** The error that a request rejects with when an event happens around it. */
  interface Case {
    readonly when: string;
    readonly run: () => Promise<unknown>;
    readonly code: string;
    /** Whether the work provably never started, and may be tried again. */
    readonly retriable: boolean;
    /** Whether no later call of the peer can work. */
    readonly isOver?: true;
    readonly streamId?: number | null;
    readonly facts?: object;
    readonly message: string | RegExp;
  }

  const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

  /** A request over a pair. `act` runs once the request has arrived. */
  function asked(
    act: (sides: ReturnType<typeof createPair>) => void,
    options: Parameters<typeof createPair>[0] = {},
  ): () => Promise<unknown> {
    return async () => {
      const sides = createPair(options);
      sides.acceptor.onStream(() => new Promise(() => undefined));
      await time.advance();
      const error = failure(sides.dialer.request('p', { timeoutMs: 5_000 }));
      await time.advance();
      act(sides);
      await time.advance(10_000);
      return error;
    };
  }

  /** The error of a request that `handler` answers. */
  function handled(handler: Parameters<Peer['onStream']>[0]): () => Promise<unknown> {
    return async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(handler);
      const error = failure(dialer.request('p'));
      await time.advance();
      return error;
    };
  }

  /** A request that waits for a dial. */
  function waiting(network: Network, options: ConnectOptions, act: (peer: Peer) => void = () => undefined): () => Promise<unknown> {
    return async () => {
      const peer = connect('ws://test', { socket: network.socket, keepalive: false, ...options });
      const error = failure(peer.request('p', { timeoutMs: 5_000 }));
      act(peer);
      await time.advance(20_000);
      return error;
    };
  }

  function refusing(answer: Network['answer']): Network {
    const network = new Network();
    network.answer = answer;
    return network;
  }

  const CASES: readonly Case[] = [
    {
      when: 'the remote has no handler',
      run: async () => {
        const { dialer } = createPair();
        const error = failure(dialer.request());
        await time.advance();
        return error;
      },
      code: 'REFUSED',
      retriable: true,
      streamId: 1,
      facts: { resetCode: 7 },
      message: 'stream 1: refused: no handler took this stream: this side has no onStream handler, and no operator such as respond()',
    },
    {
      when: 'the handler refuses',
      run: handled((_, stream) => {
        stream.reset(7, 'not here');
      }),
      code: 'REFUSED',
      retriable: true,
      streamId: 1,
      facts: { resetCode: 7, reason: 'not here' },
      message: 'stream 1: refused: not here',
    },
    {
      when: 'the remote has reached its limit of streams',
      run: async () => {
        const { dialer, acceptor } = createPair({ limits: { maxStreams: 1 } });
        acceptor.onStream(() => new Promise(() => undefined));
        dialer.open();
        const error = failure(dialer.request());
        await time.advance();
        return error;
      },
      code: 'REFUSED',
      retriable: true,
      streamId: 3,
      message: /more than 1 streams \(maxStreams\)/,
    },
    {
      when: 'the remote goes away without having processed the request',
      run: asked(({ link }) => {
        link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0, last_stream: 0, reason: 'restart' }));
      }),
      code: 'REFUSED',
      retriable: true,
      streamId: 1,
      facts: { resetCode: null, reason: 'restart' },
      message: 'stream 1: refused: restart',
    },
    {
      when: 'this peer was closed',
      isOver: true,
      run: async () => {
        const { dialer } = createPair();
        void dialer.close();
        return failure(dialer.request());
      },
      code: 'REFUSED',
      retriable: false,
      streamId: null,
      facts: { resetCode: null },
      message: 'refused: this peer was closed',
    },
    {
      when: 'the socket is gone, and no `reconnect` was asked for',
      isOver: true,
      run: async () => {
        const network = new Network();
        const peer = connect('ws://test', { socket: network.socket, keepalive: false });
        await time.advance();
        network.last.link.cut({ code: 1011, reason: 'crash' });
        return failure(peer.request());
      },
      code: 'REFUSED',
      retriable: false,
      streamId: null,
      facts: { resetCode: null },
      message: 'refused: its socket is gone (1011 crash), and no reconnect was asked for',
    },
    {
      when: 'the socket is gone, and `reconnect` has ended',
      isOver: true,
      run: async () => {
        const network = new Network();
        const peer = connect('ws://test', { socket: network.socket, keepalive: false, reconnect: true });
        await time.advance();
        network.last.link.cut({ code: 1002 });
        return failure(peer.request());
      },
      code: 'REFUSED',
      retriable: false,
      streamId: null,
      facts: { resetCode: null },
      message: 'refused: its socket is gone (1002)',
    },
    {
      when: 'the remote goes away, and no `reconnect` was asked for',
      isOver: true,
      run: async () => {
        const network = new Network({ onStream: () => new Promise(() => undefined) });
        const peer = connect('ws://test', { socket: network.socket, keepalive: false });
        await time.advance();
        void peer.open('lasts');
        await time.advance();
        void network.last.peer.close({ drainMs: 1_000 });
        await time.advance();
        return failure(peer.request());
      },
      code: 'REFUSED',
      retriable: false,
      streamId: null,
      facts: { resetCode: null },
      message: 'refused: its socket is closing, and no reconnect was asked for',
    },
    {
      when: 'a permanent dial failure precedes the request',
      run: async () => {
        const peer = connect('ws://test', { socket: refusing({ status: 401 }).socket, keepalive: false, reconnect: true });
        await time.advance(1_000);
        const error = failure(peer.request('p', { retry: { delay: 5_000 } }));
        await time.advance();
        return error;
      },
      code: 'CONNECT',
      retriable: true,
      facts: { status: 401 },
      message: 'expected ws://test to accept the handshake, got HTTP 401',
    },
    {
      when: 'the dial fails',
      run: waiting(refusing({ status: 503 }), {}),
      code: 'CONNECT',
      retriable: true,
      facts: { status: 503 },
      message: 'expected ws://test to accept the handshake, got HTTP 503',
    },
    {
      when: 'the peer is closed before a connection opens',
      run: waiting(refusing('silence'), {}, (peer) => void peer.close()),
      code: 'CONNECTION_LOST',
      retriable: true,
      streamId: null,
      message: 'connection lost (1000 closed before it was open)',
    },
    {
      when: 'too many bytes wait for a connection',
      run: async () => {
        const network = refusing('silence');
        const peer = connect('ws://test', { socket: network.socket, limits: { maxQueuedBytes: 100 } });
        peer.open('x'.repeat(200));
        return failure(peer.request('y'));
      },
      code: 'QUEUE_OVERFLOW',
      retriable: true,
      streamId: null,
      message: /bytes waiting for a connection are over the limit of 100 \(maxQueuedBytes\)/,
    },
    {
      when: 'the socket is lost after the open was sent',
      run: asked(({ link }) => {
        link.cut({ code: 1011, reason: 'crash' });
      }),
      code: 'CONNECTION_LOST',
      retriable: false,
      streamId: 1,
      facts: { reason: { code: 1011, reason: 'crash', wasClean: false, willRetry: false } },
      message: 'stream 1: connection lost (1011 crash)',
    },
    {
      when: 'the remote goes away and may have processed the request',
      run: asked(({ acceptor }) => {
        void acceptor.close();
      }),
      code: 'RESET',
      retriable: false,
      streamId: 1,
      facts: { resetCode: 8 },
      message: /^stream 1: reset with CANCEL/,
    },
    {
      when: 'the handler fails',
      run: handled(() => Promise.reject(new RangeError('too big'))),
      code: 'REMOTE',
      retriable: false,
      streamId: 1,
      facts: { resetCode: 16, reason: 'too big', payload: { name: 'RangeError', message: 'too big' } },
      message: 'too big',
    },
    {
      when: 'the handler resets with a code of the application',
      run: handled((_, stream) => {
        stream.reset(300, 'quota', { limit: 1 });
      }),
      code: 'RESET',
      retriable: false,
      streamId: 1,
      facts: { resetCode: 300, reason: 'quota', payload: { limit: 1 } },
      message: 'stream 1: reset with 300: quota',
    },
    {
      when: 'the remote resets without a code',
      run: asked(({ link }) => {
        link.inject('dialer', JSON.stringify({ type: 'reset', stream: 1, reason: 'why' }));
      }),
      code: 'RESET',
      retriable: false,
      streamId: 1,
      facts: { resetCode: null, reason: 'why' },
      message: 'stream 1: reset with no code: why',
    },
    {
      when: 'the remote resets with an unknown code',
      run: asked(({ link }) => {
        link.inject('dialer', JSON.stringify({ type: 'reset', stream: 1, code: 99 }));
      }),
      code: 'RESET',
      retriable: false,
      streamId: 1,
      facts: { resetCode: 99, reason: '', payload: null },
      message: 'stream 1: reset with 99',
    },
    {
      when: 'no answer comes in time',
      run: asked(() => undefined),
      code: 'DEADLINE_EXCEEDED',
      retriable: false,
      streamId: 1,
      facts: { timeoutMs: 5_000 },
      message: 'stream 1: expected the stream to end within 5000 ms, got no end',
    },
    {
      when: 'no connection opens in time',
      run: waiting(refusing('silence'), { connectTimeoutMs: 0 }),
      code: 'DEADLINE_EXCEEDED',
      retriable: true,
      streamId: null,
      facts: { timeoutMs: 5_000 },
      message: 'expected the stream to end within 5000 ms, but it was never sent: no connection to ws://test',
    },
    {
      when: 'this side closes the peer',
      run: asked(({ dialer }) => {
        void dialer.close();
      }),
      code: 'CANCELLED',
      retriable: false,
      streamId: 1,
      message: 'stream 1: the connection is closing',
    },
    {
      when: 'its signal aborts',
      run: async () => {
        const { dialer } = createPair();
        const abort = new AbortController();
        const error = failure(dialer.request('p', { signal: abort.signal }));
        abort.abort('why');
        return error;
      },
      code: 'CANCELLED',
      retriable: false,
      streamId: 1,
      facts: { cause: 'why' },
      message: 'stream 1: aborted',
    },
    {
      when: 'the two ends speak different subprotocols',
      run: waiting(refusing({ protocol: 'mux.v1.msgpack' }), {}),
      code: 'CODEC_MISMATCH',
      retriable: false,
      facts: { offered: 'mux.v1.json', selected: 'mux.v1.msgpack' },
      message: "expected the subprotocol 'mux.v1.json', got 'mux.v1.msgpack': both ends must use the same codec",
    },
    {
      when: 'its headers do not fit a message',
      run: async () => failure(createPair().dialer.request('p', { headers: { big: 'x'.repeat(70_000) } })),
      code: 'PROTOCOL',
      retriable: false,
      message: /.+/,
    },
    {
      when: 'the answer is larger than this side accepts',
      run: async () => {
        const { dialer, acceptor } = createPair({ dialer: { limits: { maxPayloadBytes: 100_000 } } });
        acceptor.onStream((_, stream) => stream.reply('x'.repeat(200_000)));
        const error = failure(dialer.request('p'));
        await time.advance();
        return error;
      },
      code: 'RESET',
      retriable: false,
      streamId: 1,
      facts: { resetCode: 6 },
      message: /^stream 1: reset with PAYLOAD_TOO_LARGE: .*100000/,
    },
  ];

  describe('Errors of a request', () => {
    it.each(CASES.map((entry) => [entry.when, entry] as const))(
      'A request rejects when %s',
      async (_when, { run, code, retriable, streamId, facts, message }) => {
        const error = await run();
        expect(isMuxError(error)).toBe(true);
        expect(error).toBeInstanceOf(MuxError);
        expect(error).toMatchObject({ code, retriable, ...facts });
        const { message: text, streamId: id } = error as AnyMuxError & { streamId?: unknown };
        if (typeof message === 'string') expect(text).toBe(message);
        else expect(text).toMatch(message);
        expect(error instanceof StreamError).toBe(streamId !== undefined);
        expect(id).toBe(streamId);
      },
    );

    it('A request is retriable only if the work provably never started, and its peer has not ended', () => {
      const NEVER_STARTED = new Set(['REFUSED', 'CONNECT', 'QUEUE_OVERFLOW']);
      const UNLESS_SENT = new Set(['CONNECTION_LOST', 'DEADLINE_EXCEEDED']);
      const unexpected = CASES.filter(
        ({ code, retriable, streamId, isOver = false }) =>
          retriable !== (!isOver && (NEVER_STARTED.has(code) || (UNLESS_SENT.has(code) && streamId === null))),
      );
      expect(unexpected).toEqual([]);
    });
  });

  describe('Errors of a stream', () => {
    it('A stream passes the same error to all its subscribers', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        stream.reset(300, 'why');
      });
      const stream = dialer.open('p');
      const seen: unknown[] = [];
      for (let n = 0; n < 2; n++) stream.subscribe({ error: (error: unknown) => seen.push(error) });
      await time.advance();
      stream.subscribe({ error: (error: unknown) => seen.push(error) });
      expect(seen).toHaveLength(3);
      expect(new Set(seen).size).toBe(1);
    });
  });
});

describe('failing at once', () => {
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
      (await failing()).subscribe({
        next: () => seen.push('next'),
        error: () => seen.push('error'),
        complete: () => seen.push('complete'),
      });
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
});

describe('unhandled errors', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  afterEach(() => {
    config.onUnhandledError = null;
  });

  const CALLS: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
    ['open', (peer) => peer.open('p', { end: true })],
    ['open$', (peer) => peer.open$('p')],
    ['open$ with an input', (peer) => peer.open$('p', { input: from(['i']) })],
    ['open$ with retry', (peer) => peer.open$('p', { retry: 'safe' })],
    ['request$', (peer) => peer.request$('p')],
    ['request$ with retry', (peer) => peer.request$('p', { retry: 'safe' })],
  ];

  const rejects: () => unknown = () => Promise.reject(new Error('later'));

  const NO_HANDLER = 'a stream failed and its subscriber has no error handler';
  const FAILED = 'a subscriber of a stream failed';

  /** Each fault, the handler of the other side, the observer, and each error with the text of its log line. */
  const FAULTS: readonly (readonly [string, StreamHandler, Partial<Observer<unknown>>, ...(readonly [text: string, error: string])[]])[] = [
    ['an error without a handler', refuses, {}, [NO_HANDLER, 'ResetError: stream 1: reset with 300: no']],
    ['a `next` that throws', answers, { next: throws('next') }, [FAILED, 'Error: next']],
    ['a `next` whose promise rejects', answers, { next: rejects }, [FAILED, 'Error: later']],
    ['an `error` that throws', refuses, { error: throws('error') }, [FAILED, 'Error: error']],
    ['a `complete` that throws', answers, { complete: throws('complete') }, [FAILED, 'Error: complete']],
  ];

  describe.each(CALLS)('Unhandled errors of %s', (_call, call) => {
    it.each(FAULTS)('The log reports %s', async (_fault, handler, observer, ...reports) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(handler);
      const subscription = call(dialer).subscribe(observer);
      await time.advance();
      expect(logs.errors).toEqual(reports.map(([text]) => expect.stringContaining(text)));
      expect([subscription.closed, dialer.status.state]).toEqual([true, 'open']);
    });

    it.each(FAULTS)('`onUnhandledError` of rxjs receives %s in place of the log', async (_fault, handler, observer, ...reports) => {
      const received: string[] = [];
      config.onUnhandledError = (error: unknown) => received.push(String(error));
      const { dialer, acceptor } = createPair();
      acceptor.onStream(handler);
      call(dialer).subscribe(observer);
      await time.advance();
      expect(received).toEqual(reports.map(([, error]) => error));
      expect(logs.errors).toEqual([]);
    });
  });
});

describe('retried calls', () => {
  const time = virtualPeerTime();

  /** The error of a rejected promise, in short. */
  const told = (call: Promise<unknown>): Promise<unknown> =>
    call.catch((error: unknown) => (isMuxError(error) ? [error.code, error.retriable] : error));

  describe('Retries of a call whose handler ran', () => {
    collectLogs();

    const refused = (): never => {
      throw new RefusedError('busy');
    };
    const input = throwError(() => new RefusedError('busy'));

    it.each<[string, (peer: Peer) => Promise<unknown>]>([
      ['the input fails with the refusal of another call', (peer) => firstValueFrom(peer.open$('store', { input, retry: 'safe' }))],
      ['`onOpen` throws the refusal of another call', (peer) => peer.request('store', { onOpen: refused, retry: 'safe' })],
      [
        'the input fails with the refusal of another call, and `retryWhenSafe` is piped after it',
        (peer) => firstValueFrom(peer.open$('store', { input }).pipe(retryWhenSafe())),
      ],
      [
        '`onOpen` throws the refusal of another call, and `retryWhenSafe` is piped after it',
        (peer) => firstValueFrom(peer.open$('store', { onOpen: refused }).pipe(retryWhenSafe())),
      ],
    ])('A call whose handler ran is not retried when %s', async (_what, call) => {
      const { dialer, acceptor } = createPair();
      let runs = 0;
      acceptor.onStream(() => {
        runs++;
        return new Promise(() => undefined);
      });
      const outcome = told(call(dialer));
      await time.advance(60_000);
      expect([runs, await outcome]).toEqual([1, ['REFUSED', true]]);
    });

    it('A call that is refused itself is retried with its input', async () => {
      const { dialer } = createPair();
      let made = 0;
      const input = (): Promise<never> => {
        made++;
        return new Promise(() => undefined);
      };
      const outcome = told(firstValueFrom(dialer.open$('store', { input, retry: { count: 2, delay: 1 } })));
      await time.advance(60_000);
      expect([made, await outcome]).toEqual([3, ['REFUSED', true]]);
    });

    it('A call is retried when its input reports that the call itself was refused', async () => {
      const { dialer } = createPair();
      const echoes: Subject<unknown>[] = [];
      const onOpen = (stream: Stream): void => {
        const echo = new Subject();
        echoes.push(echo);
        stream.subscribe(echo);
      };
      const input = (): Observable<unknown> => echoes.at(-1) ?? EMPTY;
      const outcome = told(firstValueFrom(dialer.open$('store', { input, onOpen, retry: { count: 2, delay: 1 } })));
      await time.advance(60_000);
      expect([echoes.length, await outcome]).toEqual([3, ['REFUSED', true]]);
    });
  });

  describe('Call in the delay before its next attempt', () => {
    collectLogs();

    /** Checks that `told` is empty until `act` runs, and holds the refusal soon after. */
    const failsAt = async (act: () => unknown, told: unknown[]): Promise<void> => {
      await time.advance(10);
      expect(told).toEqual([]);
      act();
      await time.advance(10);
      expect(told).toEqual([['REFUSED', true]]);
    };
    const errorsOf = (call$: Observable<unknown>): unknown[] => {
      const told: unknown[] = [];
      call$.subscribe({ error: (error: unknown) => told.push(isMuxError(error) && [error.code, error.retriable]) });
      return told;
    };

    it.each<[string, (peer: Peer, retry: Retry) => Observable<unknown>]>([
      ['request', (peer, retry) => defer(() => peer.request('p', { retry }))],
      ['request$', (peer, retry) => peer.request$('p', { retry })],
      ['open$', (peer, retry) => peer.open$('p', { retry })],
      ['reopenOnReconnect around it', (peer, retry) => reopenOnReconnect(peer, { open: () => peer.open$('p', { retry }) })],
    ])('A call of %s in its delay fails with its last error when the peer is closed', async (_what, call) => {
      for (const delay of [60_000, () => NEVER]) {
        const peer = dialing(new Network(), { reconnect: SOON });
        await failsAt(() => peer.close(), errorsOf(call(peer, { delay })));
      }
      expect(time.isOver()).toBe(true);
    });

    it('A call in its delay does not wait for the drain', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond((payload) => (payload === 'long' ? NEVER : undefined))).subscribe();
      dialer.open$('long').subscribe({ error: () => undefined });
      let attempts = 0;
      dialer.interceptOpen((_headers, payload) => {
        if (payload === 'p') attempts++;
      });
      const told = errorsOf(dialer.request$('p', { retry: { delay: 60_000 } }));
      await failsAt(() => dialer.close({ drainMs: 10_000 }), told);
      expect([attempts, dialer.status]).toEqual([1, { state: 'draining', by: 'local' }]);
    });

    it('A call fails without a delay when the only socket of its peer goes away', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond((payload) => (payload === 'long' ? NEVER : undefined))).subscribe();
      dialer.open$('long').subscribe({ error: () => undefined });
      await time.advance();
      void acceptor.close({ drainMs: 10_000 });
      const told = errorsOf(dialer.request$('p', { retry: { delay: 60_000 } }));
      await time.advance(10);
      expect([told, dialer.status]).toEqual([[['REFUSED', true]], { state: 'draining', by: 'remote' }]);
    });

    it('A call in its delay fails with its last error when the only socket of its peer is lost', async () => {
      const { dialer, link } = createPair();
      const told = errorsOf(dialer.request$('p', { retry: { delay: 60_000 } }));
      await failsAt(() => {
        link.cut();
      }, told);
    });
  });
});

describe('caller frames', () => {
  const time = virtualPeerTime();
  collectLogs();

  /** Awaits a call. The stack of an error can show the name of this function. */
  async function buyTickets(call: () => Promise<unknown>): Promise<unknown> {
    try {
      await call();
      return 'no error';
    } catch (error) {
      return error;
    }
  }

  const stays: StreamHandler = (_, stream) => stream.closed;
  const fails =
    (error: Error): StreamHandler =>
    () => {
      throw error;
    };

  interface Kind {
    readonly kind: string;
    readonly code: string;
    readonly handler?: StreamHandler;
    readonly options?: PairOptions;
    readonly call: (peer: Peer) => Promise<unknown>;
    /** Runs once the call is under way. */
    readonly then?: (pair: Pair) => unknown;
  }

  const opened = (peer: Peer): Stream => {
    const stream = peer.open('p');
    stream.subscribe({ error: () => undefined });
    return stream;
  };
  const full = { limits: { maxUnsentBytes: 100_000 } };

  const KINDS: readonly Kind[] = [
    { kind: 'a request whose handler fails', code: 'REMOTE', handler: fails(new Error('why')), call: (peer) => peer.request('p') },
    { kind: 'a request that is reset', code: 'RESET', handler: fails(new ResetError(300)), call: (peer) => peer.request('p') },
    {
      kind: 'a request that is refused',
      code: 'REFUSED',
      handler: (_, stream) => {
        stream.reset(7);
      },
      call: (peer) => peer.request('p'),
    },
    { kind: 'a request that times out', code: 'DEADLINE_EXCEEDED', handler: stays, call: (peer) => peer.request('p', { timeoutMs: 5 }) },
    {
      kind: 'a request that is aborted before it is sent',
      code: 'CANCELLED',
      call: (peer) => peer.request('p', { signal: AbortSignal.abort() }),
    },
    {
      kind: 'a request with `retry` that fails',
      code: 'REMOTE',
      handler: fails(new Error('why')),
      call: (peer) => peer.request('p', { retry: 'safe' }),
    },
    {
      kind: 'a request whose connection is lost',
      code: 'CONNECTION_LOST',
      handler: stays,
      call: (peer) => peer.request('p'),
      then: ({ link }) => link.cut(),
    },
    {
      kind: 'a request whose peer is closed',
      code: 'CANCELLED',
      handler: stays,
      call: (peer) => peer.request('p'),
      then: ({ dialer }) => dialer.close(),
    },
    {
      kind: 'a `send` after the end',
      code: 'PROTOCOL',
      handler: stays,
      call: (peer) => {
        const stream = opened(peer);
        void stream.end();
        return stream.send(1);
      },
    },
    {
      kind: 'a `send` that waits for room when the stream is reset',
      code: 'RESET',
      handler: (_, stream) => {
        stream.reset(11);
      },
      call: (peer) => opened(peer).send('x'.repeat(10_000_000)),
    },
    {
      kind: 'a `send` into a full queue',
      code: 'QUEUE_OVERFLOW',
      handler: stays,
      options: full,
      call: (peer) => {
        const stream = opened(peer);
        for (let nth = 0; nth < 40; nth++) void stream.send('x'.repeat(1_000_000));
        return stream.send('x'.repeat(1_000_000));
      },
    },
    {
      kind: 'a `reply` after the end',
      code: 'PROTOCOL',
      handler: stays,
      call: (peer) => {
        const stream = opened(peer);
        void stream.end();
        return stream.reply(1);
      },
    },
    {
      kind: 'a `reply` on a stream whose connection is lost',
      code: 'CONNECTION_LOST',
      handler: stays,
      call: async (peer) => {
        const stream = opened(peer);
        await stream.closed;
        return stream.reply(1);
      },
      then: ({ link }) => link.cut(),
    },
    {
      kind: 'a `sendAll` whose stream is reset',
      code: 'RESET',
      handler: fails(new ResetError(300)),
      call: (peer) => opened(peer).sendAll(NEVER),
    },
    {
      kind: 'a `sendAll` whose connection is lost',
      code: 'CONNECTION_LOST',
      handler: stays,
      call: (peer) => opened(peer).sendAll(NEVER),
      then: ({ link }) => link.cut(),
    },
    {
      kind: 'a loop over a stream that fails',
      code: 'REMOTE',
      handler: fails(new Error('why')),
      call: async (peer) => {
        for await (const value of peer.open('p', { end: true })) expect(value).toBe('never');
      },
    },
    {
      kind: 'a `ping` on a connection that is lost',
      code: 'CONNECTION_LOST',
      options: { latencyMs: 100 },
      call: (peer) => peer.ping(),
      then: ({ link }) => link.cut(),
    },
    {
      kind: 'a `ping` of a peer that has closed',
      code: 'CONNECTION_LOST',
      call: async (peer) => {
        await peer.close();
        return peer.ping();
      },
    },
    {
      kind: '`opened` of a peer that has closed',
      code: 'CONNECTION_LOST',
      call: async (peer) => {
        await peer.close();
        return peer.opened;
      },
    },
  ];

  describe('Stack of a failed call', () => {
    it.each(KINDS)('The error stack names the function that awaits $kind', async ({ handler, options, call, code, then }) => {
      const pair = createPair({ ...options, acceptor: { onStream: handler } });
      await time.advance();
      const outcome = buyTickets(() => call(pair.dialer));
      await time.advance();
      void then?.(pair);
      await time.advance(10);
      const error = await outcome;
      expect(error).toMatchObject({ code });
      expect((error as Error).stack).toMatch(/\n +at (async )?buyTickets /);
    });
  });

  describe('Calls that fail with the error of one dial', () => {
    it('Calls that fail with one dial get an error each, with the stack of their own caller; `status` keeps the plain error', async () => {
      const network = new Network();
      network.answer = { status: 503 };
      const peer = connect('ws://test', { socket: network.socket });
      async function sellTickets(): Promise<unknown> {
        const error = await buyTickets(() => peer.request('q'));
        return error;
      }
      const outcomes = Promise.all([buyTickets(() => peer.request('p')), sellTickets(), buyTickets(() => peer.opened)]);
      await time.advance();
      const errors = (await outcomes) as ConnectError[];
      expect(errors.map((error) => [error instanceof ConnectError, error.code, error.status, error.retriable])).toEqual(
        errors.map(() => [true, 'CONNECT', 503, true]),
      );
      const stacks = errors.map(({ stack = '' }) => [stack.split('buyTickets').length - 1, stack.split('sellTickets').length - 1]);
      expect(stacks).toEqual([
        [1, 0],
        [1, 1],
        [1, 0],
      ]);
      const { status } = peer;
      expect(status.state === 'closed' ? status.error?.stack : '').not.toContain('buyTickets');
    });
  });

  describe('Errors of an input', () => {
    it('A failed call does not change the error of its own input', async () => {
      const { dialer } = createPair();
      const error = new RangeError('input');
      const { stack } = error;
      const outcome = buyTickets(() => dialer.open().sendAll(Promise.reject(error)));
      await time.advance();
      expect([await outcome, error.stack]).toEqual([error, stack]);
    });
  });
});
