import { EventEmitter, on } from 'node:events';
import { Readable } from 'node:stream';
import { ReadableStream as ReadableStreamFromWeb } from 'node:stream/web';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  concat,
  EMPTY,
  interval,
  map,
  NEVER,
  Observable,
  of,
  range,
  repeat,
  retry,
  Subject,
  Subscription,
  take,
  tap,
  throwError,
} from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { connect, ProtocolError, reopenOnReconnect, ResetCode, respond, retryWhenSafe, through, withCredit } from '../../src/index.js';
import type { Input, OpenOptions, Peer, Stream } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { dialing, holding, SOON } from '../support/peer/dialing.js';
import { endless } from '../support/peer/endless.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import { progressOf } from '../support/peer/outcome.js';
import { joined, learningPair, stays } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { throws } from '../support/peer/user-code.js';

describe('stopped inputs', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  const KIB = 'x'.repeat(1024);

  type Wait = 'for room in a full socket' | 'for a first answer';

  describe.each<Wait>(['for room in a full socket', 'for a first answer'])('Inputs of `sendAll` that wait %s', (wait) => {
    async function interrupted(interrupt: (stream: Stream, remote: Stream) => unknown) {
      const { dialer, acceptor, link, knowLine } = learningPair(time);
      const remotes: Stream[] = [];
      acceptor.onStream((_, stream) => {
        remotes.push(stream);
        return new Promise(() => undefined);
      });
      const stream = dialer.open();
      await time.advance(1);
      if (wait === 'for room in a full socket') await knowLine();
      link.stall('acceptor');
      const { pulled, iterator } = endless();
      const values = { [Symbol.iterator]: () => ({ next: () => ({ ...iterator.next(), value: KIB }), return: () => iterator.return?.() }) };
      const outcome = progressOf(stream.sendAll(values as Iterable<string>));
      await time.advance();
      const before = pulled.count;
      for (const remote of remotes.slice(0, 1)) interrupt(stream, remote);
      link.resume('acceptor');
      await time.advance(5_000);
      return { stream, pulled, outcome, more: pulled.count - before };
    }

    it('`sendAll` stops its input without an error when the remote resets with NO_ERROR', async () => {
      const { outcome, pulled } = await interrupted((_, remote) => {
        void remote.reply('enough');
        remote.reset(0);
      });
      expect([outcome, pulled.stopped]).toEqual([{ settled: true, error: null }, 1]);
    });

    it.each<[string, (stream: Stream, remote: Stream) => unknown, object]>([
      [
        'the remote cancels',
        (_, remote) => {
          remote.reset();
        },
        { code: 'RESET', resetCode: 8 },
      ],
      [
        'this side resets',
        (stream) => {
          stream.reset();
        },
        { code: 'CANCELLED' },
      ],
      [
        'this side resets with a code of its own',
        (stream) => {
          stream.reset(300, 'why');
        },
        { code: 'RESET', resetCode: 300, reason: 'why' },
      ],
      ['this side closes the peer', (stream) => stream.peer.close(), { code: 'CANCELLED' }],
      ['the remote closes its peer', (_, remote) => remote.peer.close(), {}],
    ])('`sendAll` stops its input with the error of the stream when %s, and loses at most one value', async (_what, interrupt, error) => {
      const { outcome, pulled, more } = await interrupted(interrupt);
      expect(outcome).toEqual({ settled: true, error: expect.objectContaining(error) });
      expect(pulled.stopped).toBe(1);
      expect(more).toBeLessThanOrEqual(1);
    });

    it('`sendAll` stops its input with a state error when this side ends the stream, which stays open', async () => {
      const { outcome, pulled, stream } = await interrupted((stream) => stream.end());
      expect(outcome).toEqual({ settled: true, error: expect.objectContaining({ code: 'PROTOCOL' }) });
      expect([pulled.stopped, stream.cause]).toEqual([1, null]);
      expect(logs.warnings).toEqual(['rxmux: stream 1: a value was sent after the end and is lost']);
    });
  });

  describe('Stopped inputs of `sendAll`', () => {
    const told = 'rxmux: ending an input failed';

    it.each<[string, object, string[]]>([
      [
        'throws',
        {
          return: () => {
            throw new Error('cannot stop');
          },
        },
        [told],
      ],
      ['rejects', { return: () => Promise.reject(new Error('cannot stop')) }, [told]],
      ['returns no promise', { return: () => 1 }, []],
    ])('`sendAll` stops an input whose `return` %s, without harm', async (_what, returning, logged) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        stream.reset();
      });
      const next = () => new Promise(() => undefined);
      const outcome = progressOf(
        dialer.open().sendAll({ [Symbol.asyncIterator]: () => ({ next, ...returning }) } as AsyncIterable<unknown>),
      );
      await time.advance();
      expect(outcome.error).toMatchObject({ code: 'RESET' });
      expect(logs.errors).toEqual(logged);
    });

    it('`sendAll` cancels a ReadableStream that it stops', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        stream.reset();
      });
      const cancels: unknown[] = [];
      const cancel = (reason: unknown): void => {
        cancels.push(reason);
      };
      void dialer.open().sendAll(new ReadableStream({ cancel }));
      await time.advance();
      expect(cancels).toHaveLength(1);
    });

    it('`sendAll` cancels a ReadableStream whose pull is pending', async () => {
      const { dialer } = createPair();
      let cancels = 0;
      const input = new ReadableStream({
        pull: () => new Promise(() => undefined),
        cancel: () => {
          cancels++;
        },
      });
      const stream = dialer.open();
      void stream.sendAll(input);
      await time.advance();
      stream.reset();
      await time.advance();
      expect(cancels).toBe(1);
    });

    it('`sendAll` unsubscribes from an Observable that it stops', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        stream.reset();
      });
      const input = new Subject<number>();
      void dialer.open().sendAll(input);
      await time.advance();
      expect(input.observed).toBe(false);
    });
  });

  describe('Synchronous Observable', () => {
    /** Values that are pushed, whereas a generator as an input is pulled one by one. */
    const pushed = (made: unknown[], value: (n: number) => unknown) =>
      range(0, 10).pipe(
        map(value),
        tap((each) => made.push(each)),
      );

    it.each<[string, (stream: Stream) => (n: number) => unknown]>([
      [
        'whose maker resets the stream',
        (stream) => (n) => {
          if (n === 2) stream.reset();
          return n;
        },
      ],
      [
        'whose `toJSON` resets the stream',
        (stream) => (n) =>
          n !== 2
            ? n
            : {
                toJSON() {
                  stream.reset();
                  return n;
                },
              },
      ],
      ['that cannot be encoded', () => (n) => (n === 2 ? 2n : n)],
    ])('A synchronous Observable makes no value after one %s', async (_what, valuesFor) => {
      const stream = createPair().dialer.open();
      const made: unknown[] = [];
      const outcome = progressOf(stream.sendAll(pushed(made, valuesFor(stream))));
      await time.advance();
      expect([outcome.settled, made.length]).toEqual([true, 3]);
    });

    it('A synchronous Observable makes no value after the last one that its consumer with credit takes', () => {
      const made: unknown[] = [];
      const taken: unknown[] = [];
      withCredit(8)
        .spend(concat(of(8), NEVER))(pushed(made, (n) => n))
        .pipe(take(3))
        .subscribe((each) => taken.push(each));
      expect([taken, made]).toEqual([
        [0, 1, 2],
        [0, 1, 2],
      ]);
    });
  });

  describe('Unlocked ReadableStream', () => {
    const unending = (): ReadableStream => new ReadableStream({ pull: () => new Promise(() => undefined) });

    it.each<[string, () => ReadableStream, (stream: Stream) => unknown]>([
      ['after its last value', () => new ReadableStream({ start: (controller) => controller.close() }), () => undefined],
      ['after its error', () => new ReadableStream({ start: (controller) => controller.error(new Error('disk')) }), () => undefined],
      ['after a reset, while it is pulled', unending, (stream) => stream.reset()],
      ['after the peer has closed, while it is pulled', unending, (stream) => stream.peer.close()],
      [
        'after a value that the codec cannot carry',
        () => new ReadableStream({ pull: (controller) => controller.enqueue(1n) }),
        () => undefined,
      ],
    ])('A ReadableStream is unlocked %s, as after `pipeTo`', async (_what, make, interrupt) => {
      const input = make();
      const stream = createPair().dialer.open();
      const outcome = progressOf(stream.sendAll(input));
      await time.advance();
      interrupt(stream);
      await time.advance(5_000);
      expect([outcome.settled, input.locked]).toEqual([true, false]);
    });

    it('A ReadableStream is unlocked when it was never read because its stream had ended before', async () => {
      const input = unending();
      const stream = createPair().dialer.open();
      stream.reset();
      progressOf(stream.sendAll(input));
      await time.advance();
      expect(input.locked).toBe(false);
    });
  });

  describe('Input that has failed', () => {
    it.each<[string, unknown]>([
      ['an error', new RangeError('no more')],
      ['an error of another realm', runInNewContext(`new RangeError('no more')`)],
    ])('A `send` after an input failed with %s rejects with that error', async (_what, broken) => {
      const { dialer } = createPair();
      const stream = dialer.open();
      progressOf(stream.sendAll(throwError(() => broken)));
      await time.advance();
      const outcome = progressOf(stream.send(1));
      await time.advance();
      expect(outcome.error).toBe(broken);
    });
  });

  describe('Input that fails', () => {
    it.each<[unknown, string]>([
      [null, 'null'],
      [undefined, 'unknown error: throw an Error'],
    ])('An input that fails with %p resets its stream like a handler that throws', async (thrown, message) => {
      const { dialer } = createPair();
      const sent = framesOf(dialer);
      progressOf(dialer.open().sendAll(Promise.reject(thrown)));
      await time.advance();
      expect(sent.at(-1)).toEqual({ type: 'reset', stream: 1, code: 16, payload: { name: 'Error', message }, reason: message });
    });
  });

  describe('Input that comes too late for its stream', () => {
    type Make = () => AsyncIterable<unknown>;
    const ignore = { error: () => undefined };
    const call = (peer: Peer, make: Make, options: object = {}, payload: unknown = 'p'): void => {
      peer.open$(payload, { input: make(), ...options }).subscribe(ignore);
    };
    const resets = (stream: Stream): void => {
      stream.reset();
    };

    const ways: readonly (readonly [string, (pair: ReturnType<typeof createPair>, make: Make) => unknown])[] = [
      [
        '`sendAll` on a reset stream',
        ({ dialer }, make) => {
          const stream = dialer.open();
          stream.reset();
          return stream.sendAll(make());
        },
      ],
      [
        '`respond` on a stream that is reset meanwhile',
        ({ dialer, acceptor }, make) => {
          const answer = (_payload: unknown, stream: Stream): AsyncIterable<unknown> => {
            stream.reset();
            return make();
          };
          acceptor.streams$.pipe(respond(answer)).subscribe();
          dialer.open$('p').subscribe(ignore);
        },
      ],
      [
        '`open$` with an aborted signal',
        ({ dialer }, make) => {
          call(dialer, make, { signal: AbortSignal.abort() });
        },
      ],
      [
        '`open$` whose `onOpen` resets the stream',
        ({ dialer }, make) => {
          call(dialer, make, { onOpen: resets });
        },
      ],
      [
        '`open$` whose payload cannot be sent',
        ({ dialer }, make) => {
          call(dialer, make, {}, 1n);
        },
      ],
      [
        '`open$` on a closed peer',
        async ({ dialer }, make) => {
          await dialer.close();
          call(dialer, make);
        },
      ],
    ];

    it.each(ways)('A promise as a late input of %s may reject without harm', async (_what, give) => {
      const late = Promise.reject(new RangeError('no more'));
      const handled = jest.spyOn(late, 'then');
      give(createPair(), () => late as unknown as AsyncIterable<unknown>);
      await time.advance(5_000);
      expect(handled).toHaveBeenCalled();
    });

    it.each(ways)('A ReadableStream as a late input of %s is cancelled', async (_what, give) => {
      const cancels: unknown[] = [];
      const cancel = (reason: unknown): void => {
        cancels.push(reason);
      };
      give(createPair(), () => new ReadableStream({ cancel }));
      await time.advance(5_000);
      expect(cancels).toHaveLength(1);
    });

    it.each(ways)('A stream of Node as a late input of %s is destroyed, and may fail at that', async (_what, give) => {
      const destroy = jest.fn((_error: Error | null, callback: (error: Error) => void) => callback(new RangeError('no more')));
      give(createPair(), () => new Readable({ destroy }));
      await time.advance(5_000);
      expect(destroy).toHaveBeenCalledTimes(1);
    });

    it.each(ways)('A stream of another peer as a late input of %s is cancelled', async (_what, give) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(() => new Promise(() => undefined));
      const relayed = dialer.open('rows', { end: true });
      give(createPair(), () => relayed);
      await time.advance(5_000);
      expect(relayed.cause).toMatchObject({ how: 'reset', by: 'user', code: 8 });
    });

    it.each(ways)('An Observable as a late input of %s is not subscribed to', async (_what, give) => {
      const input = new Subject();
      give(createPair(), () => input as unknown as AsyncIterable<unknown>);
      await time.advance(5_000);
      expect([input.observed, logs.errors]).toEqual([false, []]);
    });

    it.each(ways)('A function as a late input of %s is not called', async (_what, give) => {
      let made = 0;
      give(createPair(), () => (() => [++made]) as unknown as AsyncIterable<unknown>);
      await time.advance(5_000);
      expect(made).toBe(0);
    });
  });
});

describe('inputs released', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** An input that emits its values once, and a check whether it has been released. */
  interface Held {
    readonly input: Input<unknown>;
    readonly released: () => boolean;
  }

  function iterator(symbol: typeof Symbol.iterator | typeof Symbol.asyncIterator): Held {
    let returned = 0;
    const input = {
      next: () => ({ done: false, value: 1 }),
      return: () => (returned++, { done: true, value: undefined }),
      [symbol]: () => input,
    };
    return { input: input as unknown as Input<unknown>, released: () => returned === 1 };
  }

  /** A generator that has begun, so that its `finally` is due. */
  function* begun(ended: () => void): Generator<number> {
    try {
      for (;;) yield 1;
    } finally {
      ended();
    }
  }

  function generator(): Held {
    let ended = 0;
    const input = begun(() => ended++);
    input.next();
    return { input, released: () => ended === 1 };
  }

  async function* begunAsync(ended: () => void): AsyncGenerator<number> {
    yield* begun(ended);
    await Promise.resolve();
  }

  function asyncGenerator(): Held {
    let ended = 0;
    const input = begunAsync(() => ended++);
    void input.next();
    return { input, released: () => ended === 1 };
  }

  function events(): Held {
    const emitter = new EventEmitter();
    return { input: on(emitter, 'value') as AsyncIterable<unknown>, released: () => emitter.listenerCount('value') === 0 };
  }

  function readableStream(): Held {
    let cancelled = 0;
    const input = new ReadableStream<unknown>({
      cancel: () => {
        cancelled++;
      },
    });
    return { input, released: () => cancelled === 1 };
  }

  function nodeStream(): Held {
    const input = new Readable({ objectMode: true, read: () => undefined });
    return { input, released: () => input.destroyed };
  }

  function libraryStream(): Held {
    const pair = createPair();
    pair.acceptor.onStream(stays);
    const input = pair.dialer.open('p');
    return { input, released: () => input.phase === 'closed' };
  }

  const rejections: unknown[] = [];
  const rejected = (error: unknown): number => rejections.push(error);

  beforeEach(() => {
    rejections.length = 0;
    process.on('unhandledRejection', rejected);
  });

  afterEach(() => {
    process.off('unhandledRejection', rejected);
  });

  function promise(): Held {
    return { input: Promise.reject(new Error('late')), released: () => rejections.length === 0 };
  }

  const kinds: readonly (readonly [string, () => Held])[] = [
    ['an iterator', () => iterator(Symbol.iterator)],
    ['an async iterator', () => iterator(Symbol.asyncIterator)],
    ['a generator', generator],
    ['an async generator', asyncGenerator],
    ['events.on()', events],
    ['a ReadableStream', readableStream],
    ['a stream of Node', nodeStream],
    ['a stream of this library', libraryStream],
    ['a promise', promise],
  ];

  /** Makes a call with an input that the call never sends. */
  type Way = (input: Input<unknown>) => void | Promise<void>;

  const fails = (input: Input<unknown>, options: OpenOptions, payload: unknown = 'p', prepare: (peer: Peer) => void = () => undefined) => {
    const { dialer } = createPair();
    prepare(dialer);
    dialer.open$(payload, { ...options, input }).subscribe({ error: () => undefined });
  };

  const no = throws('no');

  /** A stream that `end` has ended. */
  async function ended(end: (local: Stream, remote: Stream) => void): Promise<Stream> {
    const { dialer, acceptor } = createPair();
    const remotes: Stream[] = [];
    acceptor.onStream((payload, remote) => {
      remotes.push(remote);
      return stays(payload, remote);
    });
    const local = dialer.open('p');
    await time.advance();
    for (const remote of remotes) end(local, remote);
    await time.advance();
    return local;
  }

  const sendsAll = async (input: Input<unknown>, end: (local: Stream, remote: Stream) => void): Promise<void> => {
    const stream = await ended(end);
    await stream.sendAll(input as AsyncIterable<unknown>).catch(() => undefined);
  };

  const ways: readonly (readonly [string, Way])[] = [
    ['a payload that cannot be encoded', (input) => fails(input, {}, 1n)],
    ['headers that cannot be encoded', (input) => fails(input, { headers: { n: 1n } })],
    ['a bad option', (input) => fails(input, { timeoutMs: -1 })],
    ['a signal that has aborted', (input) => fails(input, { signal: AbortSignal.abort() })],
    ['an interceptor that throws', (input) => fails(input, {}, 'p', (peer) => void peer.interceptOpen(no))],
    ['onOpen that throws', (input) => fails(input, { onOpen: no })],
    ['onOpen that resets the stream', (input) => fails(input, { onOpen: (stream) => stream.reset() })],
    ['a closed peer', (input) => fails(input, {}, 'p', (peer) => void peer.close())],
    [
      'a full queue of opens',
      (input) => {
        const network = holding();
        network.answer = 'silence';
        const peer = connect('ws://example.org', { socket: network.socket, keepalive: false, limits: { maxQueuedBytes: 100 } });
        peer.open('x'.repeat(100));
        peer.open$('x'.repeat(100), { input }).subscribe({ error: () => undefined });
      },
    ],
    [
      'a subscriber that leaves within onOpen',
      (input) => {
        const { dialer } = createPair();
        const subscription = new Observable((subscriber) => {
          dialer.open$('p', { input, onOpen: () => subscriber.unsubscribe() }).subscribe(subscriber);
        }).subscribe();
        subscription.unsubscribe();
      },
    ],
    [
      'a deadline before the connection opens',
      (input) => {
        const network = holding();
        network.answer = 'silence';
        const peer = connect('ws://example.org', { socket: network.socket, keepalive: false });
        peer.open$('p', { input, timeoutMs: 5 }).subscribe({ error: () => undefined });
      },
    ],
    ['sendAll on a stream that this side has reset', (input) => sendsAll(input, (local) => local.reset())],
    ['sendAll on a stream that the remote has reset', (input) => sendsAll(input, (_, remote) => remote.reset())],
    ['sendAll on a stream whose connection is lost', (input) => sendsAll(input, (local) => void local.peer.close())],
    ['sendAll after the end of this side', (input) => sendsAll(input, (local) => void local.end())],
    [
      '`respond` on a stream that is reset meanwhile',
      async (input) => {
        const { dialer, acceptor } = createPair();
        acceptor.streams$.pipe(respond((_, stream) => (stream.reset(), input as Observable<unknown>))).subscribe();
        dialer.open('p');
        await time.advance();
      },
    ],
    [
      '`respond` after its subscriber has left',
      async (input) => {
        const { dialer, acceptor } = createPair();
        const answering = new Subscription();
        const answer = (): Observable<unknown> => (answering.unsubscribe(), input as Observable<unknown>);
        answering.add(acceptor.streams$.pipe(respond(answer)).subscribe());
        dialer.open('p');
        await time.advance();
      },
    ],
    [
      '`withCredit` whose consumer grants no credit',
      (input) => {
        withCredit(1)
          .spend(EMPTY)(input as Observable<unknown>)
          .subscribe();
      },
    ],
  ];

  describe.each(ways)('Input after %s', (_way, act) => {
    it.each(kinds)('An unused input that is %s is released', async (_kind, make) => {
      const { input, released } = make();
      await act(input);
      await time.advance(20);
      expect(released()).toBe(true);
      expect(logs.errors).toEqual([]);
    });
  });

  describe('Declined input', () => {
    it('A declined function is not called to make its input', async () => {
      let made = 0;
      fails(() => (made++, EMPTY), {}, 1n);
      await time.advance();
      expect(made).toBe(0);
    });

    it('A declined Observable is not subscribed to', async () => {
      let subscribed = 0;
      const { dialer } = createPair();
      dialer.interceptOpen(no);
      const source = new Observable(() => {
        subscribed++;
      });
      source.pipe(through(dialer, 'p')).subscribe({ error: () => undefined });
      await time.advance();
      expect(subscribed).toBe(0);
    });

    it('A declined lazy iterable makes no iterator', async () => {
      let asked = 0;
      const input = { [Symbol.iterator]: () => (asked++, [].values()) };
      fails(input, {}, 1n);
      await time.advance();
      expect(asked).toBe(0);
    });

    it('A declined iterator whose `return` throws is logged', async () => {
      fails(
        {
          next: no,
          return: no,
          [Symbol.iterator]() {
            return this;
          },
        } as unknown as Iterable<unknown>,
        {},
        1n,
      );
      await time.advance();
      expect(logs.errors).toEqual(['rxmux: ending an input failed']);
    });
  });
});

describe('inputs taken twice', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** The events of a call, and the complete uploads that arrived at the remote. */
  interface Story {
    readonly told: unknown[];
    readonly uploads: unknown[][];
  }

  /** Refuses the first streams. Then it records each complete upload, and replies to its opener. */
  const receiving = (uploads: unknown[][], refusals = 0) => {
    let opened = 0;
    return (_payload: unknown, stream: Stream): Promise<unknown> | undefined => {
      if (opened++ < refusals) {
        stream.reset(ResetCode.REFUSED);
        return undefined;
      }
      const upload: unknown[] = [];
      return new Promise((resolve) =>
        stream.subscribe({
          next: (value) => upload.push(value),
          error: resolve,
          complete: () => resolve(uploads.push(upload) > 0 && stream.reply('stored')),
        }),
      );
    };
  };

  const listen = (call$: Observable<unknown>, told: unknown[]): unknown =>
    call$.subscribe({
      next: (value) => told.push(value),
      error: (error: unknown) => told.push(error),
      complete: () => told.push('complete'),
    });

  /** A call with the given input, piped through `again`. */
  const calling =
    (refusals: number, again: (call$: Observable<unknown>) => Observable<unknown>) =>
    async (input: Input<unknown>): Promise<Story> => {
      const { dialer, acceptor } = createPair();
      const story: Story = { told: [], uploads: [] };
      acceptor.onStream(receiving(story.uploads, refusals));
      listen(again(dialer.open$('up', { input })), story.told);
      await time.advance(60_000);
      return story;
    };

  const KINDS: readonly (readonly [kind: string, got: string, make: () => ObservableInput<unknown>])[] = [
    ['an iterator', 'an iterator', () => ['a', 'b'].values()],
    [
      'a generator',
      'an iterator',
      () =>
        (function* () {
          yield* ['a', 'b'];
        })(),
    ],
    [
      'an async generator',
      'an iterator',
      () =>
        (async function* () {
          yield* ['a', await Promise.resolve('b')];
        })(),
    ],
    [
      'a ReadableStream',
      'a ReadableStream',
      () =>
        new ReadableStreamFromWeb({
          start(controller) {
            for (const value of ['a', 'b']) controller.enqueue(value);
            controller.close();
          },
        }),
    ],
    ['a stream of Node', 'a stream of Node', () => Readable.from(['a', 'b'])],
    [
      'a stream of another peer',
      'a stream',
      () => {
        const { dialer, acceptor } = createPair();
        acceptor.onStream((_, stream) => stream.sendAll(['a', 'b']));
        return dialer.open('rows', { end: true });
      },
    ],
  ];

  const spent = (got: string): TypeError =>
    new TypeError(
      `expected an input that can be sent again, or a function that makes a fresh one for each attempt, got ${got} that was taken before`,
    );

  describe.each(KINDS)('Input that is %s', (_kind, got, make) => {
    it.each<[string, (input: Input<unknown>) => Promise<Story>]>([
      ['retryWhenSafe', calling(1, retryWhenSafe({ delay: 1 }))],
      ['retry of rxjs', calling(1, retry({ count: 1, delay: 1 }))],
      [
        '`retry` of the call, whose function returns the same input again,',
        async (input) => {
          const { dialer, acceptor } = createPair();
          const story: Story = { told: [], uploads: [] };
          acceptor.onStream(receiving(story.uploads, 1));
          const same = (): ObservableInput<unknown> => input as ObservableInput<unknown>;
          listen(dialer.open$('up', { input: same, retry: { delay: 1 } }), story.told);
          await time.advance(60_000);
          return story;
        },
      ],
      [
        'reopenOnReconnect',
        async (input) => {
          const story: Story = { told: [], uploads: [] };
          const network = new Network({
            onStream: (_, stream) => new Promise(() => stream.subscribe({ complete: () => story.uploads.push(['another']) })),
          });
          const peer = dialing(network, { reconnect: SOON });
          listen(reopenOnReconnect(peer, { open: () => peer.open$('up', { input }) }), story.told);
          await time.advance(100);
          expect(story).toEqual({ told: [], uploads: [['another']] });
          story.uploads.pop();
          network.last.link.cut();
          await time.advance(60_000);
          void peer.close();
          return story;
        },
      ],
    ])('The second attempt of %s fails with a used input and ends the retries, and no partial upload arrives', async (_what, use) => {
      expect(await use(make())).toEqual({ told: [spent(got)], uploads: [] });
    });

    it('`repeat` sends a used input once, and its second call fails', async () => {
      const story = await calling(0, repeat(3))(make());
      expect(story).toEqual({ told: ['stored', spent(got)], uploads: [['a', 'b']] });
    });

    it('`sendAll` sends a used input once, and resets a second stream', async () => {
      const { dialer, acceptor } = createPair();
      const uploads: unknown[][] = [];
      acceptor.onStream(receiving(uploads));
      const input = make();
      void dialer.open().sendAll(input);
      await time.advance();
      const stream = dialer.open();
      const failed = stream.sendAll(input).catch((error: unknown) => error);
      await time.advance();
      expect([uploads, await failed]).toEqual([[['a', 'b']], spent(got)]);
      expect(stream.cause).toMatchObject({ how: 'reset', code: ResetCode.APPLICATION_ERROR });
    });

    it.each<[string, (stream: Stream, input: ObservableInput<unknown>) => ObservableInput<unknown>]>([
      ['respond', (_stream, input) => input],
      ['spend', (stream, input) => withCredit(8).spend(stream)(input)],
    ])('An answer of %s is sent for one call, and fails for the next one', async (_what, project) => {
      const { dialer, acceptor } = createPair();
      const input = make();
      acceptor.streams$.pipe(respond((_, stream) => project(stream, input))).subscribe();
      const told: unknown[] = [];
      for (let n = 0; n < 2; n++) {
        listen(dialer.open$('rows', { input: of(8) }), told);
        await time.advance();
      }
      expect(told).toEqual(['a', 'b', 'complete', expect.objectContaining({ code: 'REMOTE', message: spent(got).message })]);
    });

    it('An input function that makes a fresh input is sent again', async () => {
      const { told, uploads } = await calling(1, retryWhenSafe({ delay: 1 }))(make);
      expect({ told, uploads }).toEqual({ told: ['stored', 'complete'], uploads: [['a', 'b']] });
    });
  });

  describe('Input that may be sent any number of times', () => {
    it.each<[string, Input<unknown>]>([
      ['an array', ['a', 'b']],
      ['a Set', new Set(['a', 'b'])],
      ['an iterable', { [Symbol.iterator]: () => ['a', 'b'].values() }],
      ['an async iterable', { [Symbol.asyncIterator]: () => Readable.from(['a', 'b'])[Symbol.asyncIterator]() }],
      ['an Observable', of('a', 'b')],
      ['a text', 'ab'],
      ['a function', () => ['a', 'b'].values()],
    ])('An input that may be sent again is %s', async (_what, input) => {
      const { told, uploads } = await calling(0, repeat(2))(input);
      expect([told, uploads]).toEqual([
        ['stored', 'stored', 'complete'],
        [
          ['a', 'b'],
          ['a', 'b'],
        ],
      ]);
    });

    it('A stream may be sent again while a subscriber reads it', async () => {
      const { dialer, acceptor } = createPair();
      const source = createPair();
      source.acceptor.onStream((_, stream) => stream.sendAll(interval(10).pipe(take(4))));
      const shared = source.dialer.open('rows', { end: true });
      acceptor.onStream((_, stream) => stream.sendAll(shared));
      const told: unknown[][] = [[], []];
      for (const each of told) {
        listen(dialer.open$('rows'), each);
        await time.advance(25);
      }
      await time.advance(1_000);
      expect(told).toEqual([
        [0, 1, 2, 3, 'complete'],
        [2, 3, 'complete'],
      ]);
    });
  });

  it('A stream that a call reads may be sent on again when its first taker has left', async () => {
    const { dialer, acceptor } = createPair();
    const source = createPair();
    source.acceptor.onStream((_, stream) => stream.sendAll(interval(10).pipe(take(3))));
    const own: unknown[] = [];
    const streams: Stream[] = [];
    listen(source.dialer.open$('rows', { onOpen: (stream) => streams.push(stream) }), own);
    acceptor.onStream((_, stream) => stream.sendAll(streams[0] ?? []));
    dialer.open$('rows').pipe(take(1)).subscribe();
    await time.advance(15);
    const told: unknown[] = [];
    listen(dialer.open$('rows'), told);
    await time.advance(1_000);
    expect([own, told]).toEqual([
      [0, 1, 2, 'complete'],
      [1, 2, 'complete'],
    ]);
  });

  it('A stream that completes its call is not shared by the next attempt, which begins before the reader has left', async () => {
    const { dialer, acceptor } = createPair();
    const source = createPair();
    const rows$ = new Subject();
    source.acceptor.onStream((_, stream) => stream.sendAll(rows$));
    let uploads = 0;
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: () => undefined, complete: () => uploads++ });
      return stream.reply('early');
    });
    const told: unknown[] = [];
    listen(dialer.open$('up', { input: source.dialer.open('rows', { end: true }) }).pipe(repeat(2)), told);
    await time.advance();
    rows$.next('a');
    rows$.complete();
    await time.advance();
    expect([told, uploads]).toEqual([['early', spent('a stream')], 1]);
  });

  describe('Input that no call took', () => {
    const after = async (input: Input<unknown>, first: (peer: Peer) => unknown): Promise<Story> => {
      const { dialer, acceptor } = createPair();
      const story: Story = { told: [], uploads: [] };
      acceptor.onStream(receiving(story.uploads));
      first(dialer);
      await time.advance();
      listen(dialer.open$('up', { input }), story.told);
      await time.advance();
      return story;
    };
    const aborted = (input: Input<unknown>) => (peer: Peer) =>
      peer.open$('up', { input, signal: AbortSignal.abort() }).subscribe({ error: () => undefined });

    it.each(KINDS)('An input that no call took is stopped, and fails a later call, when it is %s', async (_kind, got, make) => {
      const input = make();
      expect(await after(input, aborted(input))).toEqual({ told: [spent(got)], uploads: [] });
    });

    it.each(KINDS.slice(3))('An input stays with the call that has taken it, when it is %s', async (_kind, _got, make) => {
      const { dialer, acceptor } = createPair();
      const story: Story = { told: [], uploads: [] };
      acceptor.onStream(receiving(story.uploads));
      const input = make();
      listen(dialer.open$('up', { input }), story.told);
      aborted(input)(dialer);
      await time.advance();
      expect(story).toEqual({ told: ['stored', 'complete'], uploads: [['a', 'b']] });
      expect(logs.errors).toEqual([]);
    });
  });

  it('A ReadableStream that other code has locked fails its call, and can be sent once it is unlocked', async () => {
    const input = new ReadableStreamFromWeb({ start: (controller) => controller.close() });
    const reader = input.getReader();
    const { told } = await calling(0, retryWhenSafe({ delay: 1 }))(input);
    expect(told).toEqual([expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(/locked/i) })]);
    expect(logs.errors).toEqual([]);
    reader.releaseLock();
    const { uploads } = await calling(0, retryWhenSafe({ delay: 1 }))(input);
    expect(uploads).toEqual([[]]);
  });
});

describe('inputs after the end', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  describe('Input of a stream whose remote needs no more', () => {
    it('A later input counts as sent when the remote needs no more', async () => {
      const { local, remote } = await joined(time);
      remote.reset(ResetCode.NO_ERROR);
      await time.advance();
      const outcome = progressOf(local.sendAll(['unsent']));
      await time.advance();
      expect(outcome).toEqual({ settled: true, error: null });
    });

    it('An input counts as sent when it emits a value while a reader learns that the remote needs no more', async () => {
      const { local, remote } = await joined(time);
      const input = new Subject<string>();
      const outcome = progressOf(local.sendAll(input));
      local.subscribe({
        error: () => {
          input.next('late');
        },
      });
      remote.reset(ResetCode.NO_ERROR);
      await time.advance();
      expect([outcome, input.observed]).toEqual([{ settled: true, error: null }, false]);
    });
  });

  describe('Input whose stream has ended on both sides', () => {
    it.each<[string, (next: { resolve(result: unknown): void; reject(error: unknown): void }) => void]>([
      [
        'emits a value',
        (next) => {
          next.resolve({ done: false, value: 'late' });
        },
      ],
      [
        'fails',
        (next) => {
          next.reject(new RangeError('late'));
        },
      ],
    ])('An input whose stream has ended on both sides rejects once, and reports nothing when it then %s', async (_what, act) => {
      const { local, remote } = await joined(time);
      const asked: Parameters<typeof act>[0][] = [];
      const next = () => new Promise((resolve, reject) => asked.push({ resolve, reject }));
      const outcome = progressOf(local.sendAll({ [Symbol.asyncIterator]: () => ({ next }) } as unknown as AsyncIterable<unknown>));
      void local.end();
      void remote.end();
      await time.advance();
      expect([local.cause, outcome, asked.length]).toEqual([{ how: 'ended' }, { settled: true, error: expect.any(ProtocolError) }, 1]);
      for (const each of asked) act(each);
      await time.advance();
      expect([logs.warnings, logs.errors, asked.length]).toEqual([[expect.stringContaining('stream 1')], [], 1]);
    });
  });
});
