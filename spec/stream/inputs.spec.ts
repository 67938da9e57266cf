import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { ReadableStream as ReadableStreamFromWeb } from 'node:stream/web';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  BehaviorSubject,
  concat,
  EMPTY,
  firstValueFrom,
  from,
  lastValueFrom,
  NEVER,
  Observable,
  observable,
  of,
  ReplaySubject,
  Subject,
  take,
  tap,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import type { ObservableInput, Observer, Unsubscribable } from 'rxjs';
import { ResetCode, respond, through, withCredit } from '../../src/index.js';
import type { Input, Peer } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import type { Stream } from '../../src/stream/stream.js';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer/frames.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { progressOf, settled } from '../support/peer/outcome.js';
import { fillSocket } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';

describe('observable inputs', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  interface Row {
    readonly what: string;
    readonly input: () => Observable<unknown>;
    /** The sent payloads, and the end or the reset. */
    readonly sends: readonly unknown[];
    /** Default: none. */
    readonly logged?: readonly string[];
  }

  const FAILURE = 'reset: no';

  /** An Observable of another library, which breaks the contract of Observables. */
  function foreign(emit: (to: Observer<unknown>) => void): Observable<unknown> {
    const subscribe = (to: Observer<unknown>): Unsubscribable => {
      emit(to);
      return { unsubscribe: () => undefined };
    };
    return { [observable]: () => ({ subscribe }) } as unknown as Observable<unknown>;
  }

  const many = Array.from({ length: 1_000 }, (_, n) => n);

  const ROWS: readonly Row[] = [
    {
      what: 'A BehaviorSubject sends its current value and later ones',
      input: () => {
        const subject = new BehaviorSubject<unknown>('now');
        queueMicrotask(() => {
          subject.next('later');
          subject.complete();
        });
        return subject;
      },
      sends: ['now', 'later', 'end'],
    },
    {
      what: 'A ReplaySubject sends all its kept values',
      input: () => {
        const subject = new ReplaySubject<unknown>(Infinity);
        for (const n of many) subject.next(n);
        subject.complete();
        return subject;
      },
      sends: [...many, 'end'],
    },
    {
      what: 'A completed Subject sends an end',
      input: () => {
        const subject = new Subject<unknown>();
        subject.complete();
        return subject;
      },
      sends: ['end'],
    },
    { what: '`throwError` sends a reset', input: () => throwError(() => new Error('no')), sends: [FAILURE] },
    {
      what: 'An Observable that emits and throws while it is subscribed to sends a reset',
      input: () =>
        new Observable((to) => {
          to.next(1);
          throw new Error('no');
        }),
      sends: [1, FAILURE],
    },
    {
      what: 'An Observable that emits, fails and completes again sends its first end only',
      input: () =>
        foreign((to) => {
          to.next(1);
          to.complete();
          to.next(2);
          to.error(new Error('late'));
          to.complete();
        }),
      sends: [1, 'end'],
    },
    {
      what: 'An Observable that emits within its own emission sends every value once',
      input: () => {
        const subject = new Subject<number>();
        queueMicrotask(() => {
          subject.next(1);
          subject.complete();
        });
        return subject.pipe(
          tap((n) => {
            if (n < 3) subject.next(n + 1);
          }),
        );
      },
      sends: [3, 2, 1, 'end'],
    },
    {
      what: 'A teardown that throws at the completion is logged, and the end is sent',
      logged: ['rxmux: ending an input failed'],
      input: () =>
        new Observable((to) => {
          queueMicrotask(() => {
            to.next(1);
            try {
              to.complete();
            } catch {
              // The error belongs to this source.
            }
          });
          return () => {
            throw new Error('a teardown');
          };
        }),
      sends: [1, 'end'],
    },
  ];

  const WAYS: readonly (readonly [string, (dialer: Peer, acceptor: Peer, make: () => Observable<unknown>) => Peer])[] = [
    [
      'open$',
      (dialer, _acceptor, make) => {
        dialer.open$('p', { input: make() }).subscribe({ error: () => undefined });
        return dialer;
      },
    ],
    [
      'through',
      (dialer, _acceptor, make) => {
        through(dialer, 'p')(make()).subscribe({ error: () => undefined });
        return dialer;
      },
    ],
    [
      'sendAll',
      (dialer, _acceptor, make) => {
        void dialer.open('p').sendAll(make());
        return dialer;
      },
    ],
    [
      'respond',
      (dialer, acceptor, make) => {
        acceptor.streams$.pipe(respond(make)).subscribe();
        dialer.open$('p').subscribe({ error: () => undefined });
        return acceptor;
      },
    ],
  ];

  /** A sent frame in short. */
  function said({ type, payload, end, reason }: Envelope): unknown[] {
    if (type === 'reset') return [`reset: ${String(reason)}`];
    return [...(payload === undefined ? [] : [payload]), ...(end === true ? ['end'] : [])];
  }

  describe.each(WAYS)('Input of %s', (_way, give) => {
    it.each(ROWS)('$what', async ({ input, sends, logged = [] }) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        stream.subscribe({ error: () => undefined });
        return stream.closed;
      });
      const sides = { dialer: framesOf(dialer), acceptor: framesOf(acceptor) };
      const sender = give(dialer, acceptor, input);
      await time.advance();
      const frames = sender === dialer ? sides.dialer.slice(1) : sides.acceptor;
      expect(frames.flatMap(said)).toEqual(sends);
      const reported = sender === acceptor && sends.includes(FAILURE) ? [expect.stringContaining('a handler failed')] : [];
      expect(logs.errors).toEqual([...logged, ...reported]);
    });
  });
});

describe('node stream inputs', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** Emits one value, and then neither another nor an end. */
  function idle(): PassThrough {
    const input = new PassThrough({ objectMode: true });
    input.write('first');
    return input;
  }

  describe('Silent stream of Node', () => {
    it.each<[string, (stream: Stream, remote: Stream) => unknown]>([
      ['the remote cancels', (_, remote) => remote.reset()],
      ['the remote needs no more', (_, remote) => remote.reset(0)],
      ['this side resets', (stream) => stream.reset()],
      ['this side closes the peer', (stream) => stream.peer.close()],
      ['the remote closes its peer', (_, remote) => remote.peer.close()],
    ])('A silent stream of Node is destroyed when %s', async (_what, interrupt) => {
      const { dialer, acceptor } = createPair();
      const remotes: Stream[] = [];
      acceptor.onStream((_, stream) => {
        remotes.push(stream);
        return new Promise(() => undefined);
      });
      const stream = dialer.open();
      const input = idle();
      const outcome = progressOf(stream.sendAll(input));
      await time.advance();
      expect([input.readableLength, input.destroyed]).toEqual([0, false]);
      for (const remote of remotes) interrupt(stream, remote);
      await time.advance(5_000);
      expect([outcome.settled, input.destroyed]).toEqual([true, true]);
    });

    const takeOne = async (answers$: Observable<unknown>): Promise<void> => {
      answers$.pipe(take(1)).subscribe();
      await time.advance();
    };

    it.each<[string, (dialer: Peer, acceptor: Peer, input: Readable) => unknown]>([
      [
        'it is the input of `open$` and the call is unsubscribed',
        async (dialer, acceptor, input) => {
          acceptor.onStream(() => new Promise(() => undefined));
          const subscription = dialer.open$('p', { input }).subscribe();
          await time.advance();
          subscription.unsubscribe();
        },
      ],
      [
        'a function makes it and the call is unsubscribed',
        async (dialer, acceptor, input) => {
          acceptor.onStream(() => new Promise(() => undefined));
          const subscription = dialer.open$('p', { input: () => input }).subscribe();
          await time.advance();
          subscription.unsubscribe();
        },
      ],
      [
        'it is the answer of a handler and the caller has enough',
        (dialer, acceptor, input) => {
          acceptor.onStream((_, stream) => stream.sendAll(input));
          return takeOne(dialer.open$('p'));
        },
      ],
      [
        'it is the answer of `respond` and the caller has enough',
        (dialer, acceptor, input) => {
          acceptor.streams$.pipe(respond(() => input)).subscribe();
          return takeOne(dialer.open$('p'));
        },
      ],
      [
        'it is spent for credit and the consumer has enough',
        (dialer, acceptor, input) => {
          const credit = withCredit(2);
          acceptor.streams$.pipe(respond((_, stream) => credit.spend(stream)(input))).subscribe();
          return takeOne(credit.grant((credit$) => dialer.open$('p', { input: credit$ })));
        },
      ],
    ])('A silent stream of Node is destroyed when %s', async (_what, use) => {
      const { dialer, acceptor } = createPair();
      const input = idle();
      await use(dialer, acceptor, input);
      await time.advance();
      expect([input.readableLength, input.destroyed]).toEqual([0, true]);
    });
  });

  describe('Stopped stream of Node', () => {
    async function stopped(input: AsyncIterable<unknown>) {
      const { dialer } = createPair();
      const stream = dialer.open();
      void stream.sendAll(input);
      await time.advance();
      stream.reset();
      await time.advance();
    }

    it('A stopped stream of Node that fails to close does no harm', async () => {
      const errors: unknown[] = [];
      const input = new Readable({
        read: () => undefined,
        destroy: (_error, callback) => {
          errors.push('closing');
          callback(new Error('cannot close'));
        },
      });
      await stopped(input);
      expect([errors, input.destroyed]).toEqual([['closing'], true]);
      expect(logs.errors).toEqual([]);
    });

    it('A stopped input that has `destroy` and `return` gets both calls', async () => {
      const told: string[] = [];
      const next = () => new Promise<never>(() => undefined);
      const back = () => {
        told.push('return');
        return Promise.resolve({ done: true as const, value: undefined });
      };
      await stopped({
        [Symbol.asyncIterator]: () => ({ next, return: back }),
        destroy: () => told.push('destroy'),
      } as AsyncIterable<unknown>);
      expect(told).toEqual(['destroy', 'return']);
    });

    it('A stopped stream of Node whose `destroy` throws is logged', async () => {
      const input = Object.assign(idle(), {
        destroy: () => {
          throw new Error('cannot destroy');
        },
      });
      await stopped(input);
      expect(logs.errors).toEqual(['rxmux: destroying an input failed']);
    });

    it.each<[string, object]>([
      ['a response of a client, which has no method', { httpVersion: '1.1', method: null }],
      ['another stream with a method', { method: 'POST' }],
      ['another stream with a version', { httpVersion: '1.1' }],
    ])('A stopped stream of Node is destroyed when it is %s', async (_what, traits) => {
      const input = Object.assign(idle(), traits);
      await stopped(input);
      expect(input.destroyed).toBe(true);
    });

    it('A stopped request of a server keeps its connection, and ends at its next chunk', async () => {
      const socket = new Socket();
      const request = Object.assign(new IncomingMessage(socket), { method: 'POST', httpVersion: '1.1' });
      request.setEncoding('utf8');
      request.push('first');
      await stopped(request);
      expect([request.destroyed, socket.destroyed]).toEqual([false, false]);
      request.push('next');
      await time.advance();
      expect([request.destroyed, socket.destroyed]).toEqual([true, false]);
    });
  });

  it('A stream of Node that fails before its first read fails its upload at that read', async () => {
    const { dialer, acceptor, link } = createPair();
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: () => undefined });
      return new Promise(() => undefined);
    });
    const stream = dialer.open();
    await time.advance();
    link.stall('acceptor');
    for (let sent = 0; sent < 8; sent++) void stream.send('x'.repeat(1024 * 1024));
    const input = idle();
    const outcome = progressOf(stream.sendAll(input));
    const broken = new RangeError('no more');
    input.destroy(broken);
    await time.advance();
    expect(outcome.settled).toBe(false);
    link.resume('acceptor');
    await time.advance(1_000);
    expect(outcome.error).toBe(broken);
  });
});

describe('pulled inputs', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  type Next = () => unknown;

  const KINDS: readonly (readonly [kind: string, make: (next: Next, back?: Next) => ObservableInput<unknown>])[] = [
    ['an iterable', (next, back) => ({ [Symbol.iterator]: () => ({ next, return: back }) }) as unknown as Iterable<unknown>],
    [
      'an async iterable',
      (next, back) =>
        ({
          [Symbol.asyncIterator]: () => ({ next: () => new Promise((resolve) => resolve(next())), return: back }),
        }) as unknown as AsyncIterable<unknown>,
    ],
  ];

  describe.each(KINDS)('Input that is %s', (_kind, make) => {
    it.each<[string, Next, object]>([
      ['is done', () => ({ done: true, value: undefined }), { settled: true, error: null }],
      [
        'has failed',
        () => {
          throw new RangeError('no more');
        },
        { settled: true, error: new RangeError('no more') },
      ],
      [
        'returns a result that cannot be read',
        () => ({
          get done(): never {
            throw new RangeError('no more');
          },
        }),
        { settled: true, error: new RangeError('no more') },
      ],
    ])('A pulled input is not stopped once it %s', async (_what, next, outcome) => {
      const { dialer } = createPair();
      let stopped = 0;
      const told = progressOf(dialer.open().sendAll(make(next, () => ++stopped)));
      await time.advance();
      expect([told, stopped]).toEqual([outcome, 0]);
    });

    it('A pulled input is stopped when its stream ends before the first value', async () => {
      const { dialer, link } = createPair();
      link.stall('acceptor');
      fillSocket(dialer);
      await time.advance();
      const stream = dialer.open();
      const calls: string[] = [];
      void stream.sendAll(
        make(
          () => calls.push('next'),
          () => calls.push('return'),
        ),
      );
      stream.reset();
      await time.advance();
      expect(calls).toEqual(['return']);
    });

    it('A pulled input may lack `return`', async () => {
      const { dialer } = createPair();
      const stream = dialer.open();
      const input = make(() => {
        stream.reset();
        return { done: false, value: 1 };
      });
      const told = progressOf(stream.sendAll(input));
      await time.advance();
      expect([told, logs.errors]).toEqual([{ settled: true, error: expect.objectContaining({ code: 'CANCELLED' }) }, []]);
    });
  });

  it('A pulled input may hold 50 000 values without a stack overflow', () => {
    const values = Array.from({ length: 50_000 }, (_, n) => n);
    const given: unknown[] = [];
    withCredit(1)
      .spend(of(values.length))(values)
      .subscribe({ next: (value) => given.push(value), error: (error: unknown) => given.push(error) });
    expect(given).toEqual(values);
  });

  it('A declined input that cannot be ended is logged, and does no other harm', async () => {
    const { dialer } = createPair();
    const stream = dialer.open();
    stream.reset();
    const locked = new ReadableStreamFromWeb();
    locked.getReader();
    const told = progressOf(stream.sendAll(locked));
    await time.advance();
    expect(told.error).toMatchObject({ code: 'CANCELLED' });
    expect(logs.errors).toEqual(['rxmux: ending an input failed']);
  });
});

describe('generators', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  describe('Waiting async generator whose stream is cancelled', () => {
    const ended: string[] = [];
    beforeEach(() => {
      ended.length = 0;
    });

    async function* producing(next: Promise<unknown>) {
      try {
        yield 'first';
        yield await next;
        ended.push('went on');
      } finally {
        ended.push('ended');
      }
    }
    const aborted = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

    it('A waiting generator of a cancelled stream ends at its next value, which is not sent', async () => {
      const { dialer, acceptor } = createPair();
      let go: (value: string) => void = () => undefined;
      acceptor.onStream((_, stream) => stream.sendAll(producing(new Promise((resolve) => (go = resolve)))));
      const answer = firstValueFrom(dialer.open$('p'));
      await time.advance();
      expect([await answer, ended]).toEqual(['first', []]);
      go('next');
      await time.advance();
      expect(ended).toEqual(['ended']);
    });

    it.each<[string, (pair: ReturnType<typeof createPair>) => Unsubscribable]>([
      [
        'that the remote opened',
        ({ dialer, acceptor }) => {
          acceptor.onStream((_, stream) => stream.sendAll(producing(aborted(stream.signal))));
          return dialer.open$('p').subscribe();
        },
      ],
      [
        'that its own call opened',
        ({ dialer, acceptor }) => {
          acceptor.onStream(() => new Promise(() => undefined));
          let next: Promise<never> | null = null;
          const onOpen = (stream: Stream): void => {
            next = aborted(stream.signal);
          };
          return dialer.open$('p', { onOpen, input: () => producing(Promise.resolve(next)) }).subscribe();
        },
      ],
    ])('A waiting generator that listens to the signal of a stream %s ends at once', async (_what, call) => {
      const subscription = call(createPair());
      await time.advance();
      expect(ended).toEqual([]);
      subscription.unsubscribe();
      await time.advance();
      expect(ended).toEqual(['ended']);
    });
  });

  /** So long that each value is pulled only when the value before has left. Only the first is pulled within the call. */
  const LONG = 'x'.repeat(300_000);

  describe('Generator that ends its own call while it makes a value', () => {
    it.each<[string, (stream: Stream, subscription: Unsubscribable, abort: AbortController) => void]>([
      ['by its signal', (_stream, _subscription, abort) => abort.abort()],
      ['by a reset', (stream) => stream.reset(ResetCode.CANCEL)],
      ['by unsubscribing', (_stream, subscription) => subscription.unsubscribe()],
      ['by closing the peer', (stream) => void stream.peer.close()],
    ])('A generator that ends its own call %s is ended without an error, and its value is not sent', async (_how, end) => {
      const { dialer, acceptor } = createPair();
      const [abort, ended, got]: [AbortController, string[], number[]] = [new AbortController(), [], []];
      let opened: Stream | null = null;
      acceptor.onStream((_, stream) => {
        (stream as Stream<string>).subscribe({ next: ({ length }) => got.push(length), error: () => undefined });
        return new Promise(() => undefined);
      });
      function* producing() {
        try {
          yield LONG;
          yield LONG;
          if (opened !== null) end(opened, subscription, abort);
          yield 'late';
          ended.push('went on');
        } finally {
          ended.push('ended');
        }
      }
      const options = { input: producing, signal: abort.signal, onOpen: (stream: Stream) => void (opened = stream) };
      const subscription = dialer.open$('p', options).subscribe({ error: () => undefined });
      await time.advance();
      expect([got, ended, logs.errors]).toEqual([[LONG.length, LONG.length], ['ended'], []]);
    });
  });

  describe('Iterator that ends its own call while it makes a value', () => {
    /** Ends the call at the third value. Returns how often the library called `return` of the iterator. */
    const returnsOf = async (third: IteratorResult<string>, back?: () => unknown): Promise<number> => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        stream.subscribe({ error: () => undefined });
        return new Promise(() => undefined);
      });
      const abort = new AbortController();
      let [asked, returned] = [0, 0];
      const next = (): IteratorResult<string> => {
        if (++asked < 3) return { done: false, value: LONG };
        abort.abort();
        return third;
      };
      const counted = (): unknown => {
        returned++;
        return back?.();
      };
      const input = { [Symbol.iterator]: () => ({ next, return: back && counted }) } as unknown as Iterable<string>;
      dialer.open$('p', { input, signal: abort.signal }).subscribe({ error: () => undefined });
      await time.advance();
      expect(asked).toBe(3);
      return returned;
    };
    const fails = (): never => {
      throw new Error('no');
    };

    it.each<[string, IteratorResult<string>, (() => unknown) | undefined, number, string[]]>([
      ['`return` of an iterator that ends its own call runs once', { done: false, value: 'late' }, () => ({ done: true }), 1, []],
      ['`return` of an iterator that ends itself and its call does not run', { done: true, value: undefined }, fails, 0, []],
      ['An iterator that ends its own call may lack `return`', { done: false, value: 'late' }, undefined, 0, []],
      ['A failing `return` of an iterator is logged', { done: false, value: 'late' }, fails, 1, ['rxmux: ending an input failed']],
    ])('%s', async (_what, third, back, returned, errors) => {
      expect([await returnsOf(third, back), logs.errors]).toEqual([returned, errors]);
    });
  });
});

describe('blob inputs', () => {
  const time = virtualPeerTime();

  const KIB = 1024;
  const bytesOf = (size: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length: size }, (_, i) => i % 251);

  /** The slices of an input that arrive under msgpack. */
  async function arriving(input: Blob): Promise<readonly Uint8Array[]> {
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    const slices: Uint8Array[] = [];
    acceptor.onStream(async (_payload, stream) => {
      for await (const slice of stream) slices.push(slice as Uint8Array);
    });
    const sent = dialer.open('up').sendAll(input);
    await time.advance(1_000);
    await time.advance(1_000);
    await sent;
    await time.advance(1_000);
    return slices;
  }

  describe('Blob as an input', () => {
    it.each<[string, number, readonly number[]]>([
      ['no bytes', 0, []],
      ['one byte', 1, [1]],
      ['64 KiB', 64 * KIB, [64 * KIB]],
      ['two slices and 5 bytes', 128 * KIB + 5, [64 * KIB, 64 * KIB, 5]],
    ])('A Blob of %s is sent in slices of 64 KiB', async (_what, size, lengths) => {
      const bytes = bytesOf(size);
      const slices = await arriving(new Blob([bytes]));
      expect(slices.map(({ length }) => length)).toEqual(lengths);
      expect(Buffer.concat(slices).equals(bytes)).toBe(true);
    });
  });

  describe('Blob', () => {
    collectLogs();

    it('A Blob can be sent again', async () => {
      const blob = new Blob(['abc']);
      const twice = [await arriving(blob), await arriving(blob)];
      expect(twice.map((slices) => Buffer.concat(slices).toString())).toEqual(['abc', 'abc']);
    });

    it('A Blob may be an answer of `respond`', async () => {
      const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
      acceptor.streams$.pipe(respond(() => new Blob(['abc']))).subscribe();
      const seen: string[] = [];
      dialer.open$<Uint8Array>('p').subscribe((slice) => seen.push(Buffer.from(slice).toString()));
      for (let turn = 0; turn < 3; turn++) await time.advance(10);
      expect(seen).toEqual(['abc']);
    });

    it('A Blob fails its call when the codec carries no bytes', async () => {
      const { dialer } = createPair();
      const outcome = progressOf(dialer.open('up').sendAll(new Blob(['abc'])));
      for (let turn = 0; turn < 3; turn++) await time.advance(10);
      expect(outcome.error).toBeInstanceOf(TypeError);
    });

    it('A Blob that cannot be read fails its call', async () => {
      const { dialer } = createPair({ codec: new MsgpackCodec() });
      const blob = new Blob(['abc']);
      Object.defineProperty(blob, 'slice', { value: () => ({ arrayBuffer: () => Promise.reject(new Error('the file has changed')) }) });
      const outcome = progressOf(dialer.open('up').sendAll(blob));
      await time.advance(10);
      expect(outcome.error).toEqual(new Error('the file has changed'));
    });

    it('A Blob is not read any more once its stream has ended', async () => {
      const { dialer } = createPair({ codec: new MsgpackCodec() });
      const stream = dialer.open('up');
      const outcome = progressOf(stream.sendAll(new Blob([bytesOf(300 * KIB)])));
      stream.reset();
      await time.advance(10);
      expect(outcome.error).toMatchObject({ code: 'CANCELLED' });
    });
  });
});

describe('input of bytes', () => {
  const time = virtualPeerTime();
  collectLogs();

  const MESSAGE = 'expected an input of payloads, such as an Observable or an iterable, got bytes: [bytes] is an input of one payload';

  const BYTES: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ['a Uint8Array', new Uint8Array(3)],
    ['a Buffer', Buffer.alloc(3)],
    ['another view', new Float64Array(3) as unknown as Uint8Array],
    ['a DataView', new DataView(new ArrayBuffer(3)) as unknown as Uint8Array],
    ['an ArrayBuffer', new ArrayBuffer(3) as unknown as Uint8Array],
  ];

  const WAYS: readonly (readonly [way: string, send: (dialer: Peer, acceptor: Peer, bytes: Uint8Array) => Promise<unknown>])[] = [
    ['sendAll', (dialer, _, bytes) => dialer.open().sendAll(bytes)],
    ['open$', (dialer, _, input) => lastValueFrom(dialer.open$('p', { input }))],
    ['a function of open$', (dialer, _, bytes) => lastValueFrom(dialer.open$('p', { input: () => bytes, retry: 'safe' }))],
    [
      'respond',
      (dialer, acceptor, bytes) => {
        acceptor.streams$.pipe(respond(() => bytes)).subscribe();
        return lastValueFrom(dialer.open$('p'));
      },
    ],
    [
      'spend',
      (dialer, acceptor, bytes) => {
        acceptor.streams$.pipe(respond((_, stream) => withCredit(1).spend(stream)(bytes))).subscribe();
        return lastValueFrom(dialer.open$('p', { input: [8] }));
      },
    ],
  ];

  describe.each(BYTES)('Input that is %s', (_what, bytes) => {
    it.each(WAYS)('Bytes as an input are refused by %s, and no value is sent', async (_way, send) => {
      const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
      const sent = [framesOf(dialer), framesOf(acceptor)];
      const outcome = settled(send(dialer, acceptor, bytes));
      await time.advance();
      expect(await outcome).toEqual({ error: expect.objectContaining({ message: MESSAGE }) });
      expect(sent.flat().filter(({ type, payload }) => type === 'data' && payload !== 8 && payload !== undefined)).toEqual([]);
      expect(sent.flat()).toContainEqual(expect.objectContaining({ type: 'reset', code: 16, reason: MESSAGE }));
    });
  });

  describe('Inputs that are not bytes', () => {
    it.each<[string, Input<unknown>, unknown[]]>([
      ['bytes in an array', [new Uint8Array([1, 2])], [new Uint8Array([1, 2])]],
      ['a promise of bytes', Promise.resolve(new Uint8Array([1, 2])), [new Uint8Array([1, 2])]],
      ['the values of a view', new Uint8Array([1, 2]).values(), [1, 2]],
      ['a text', 'ab', ['a', 'b']],
    ])('An input may be %s', async (_what, input, payloads) => {
      const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
      acceptor.onStream((_, stream) => stream.sendAll(stream));
      const echoed = lastValueFrom(dialer.open$('p', { input }).pipe(toArray()));
      await time.advance();
      expect(await echoed).toEqual(payloads);
    });
  });
});

describe('Input of `open$`', () => {
  const time = virtualPeerTime();
  collectLogs();

  const making = () => ['a', 'b'].values();

  it('An input function runs for each subscription', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.sendAll(stream));
    let made = 0;
    const echo$ = dialer.open$('echo', { input: () => [++made] });
    const seen: unknown[] = [];
    for (let n = 0; n < 2; n++) echo$.subscribe((value) => seen.push(value));
    await time.advance();
    expect(seen).toEqual([1, 2]);
  });

  it.each<[string, (peer: Peer) => ObservableInput<unknown>]>([
    ['an iterator', () => [1, 2].values()],
    [
      'a generator',
      () =>
        (function* () {
          yield 1;
        })(),
    ],
    [
      'an async generator',
      () =>
        (async function* () {
          yield await Promise.resolve(1);
        })(),
    ],
    ['a ReadableStream', () => new ReadableStream()],
    ['a stream of Node', () => Readable.from([1])],
    ['a stream', (peer) => peer.open()],
  ])('`retry` refuses %s as an input at once, because it cannot be sent again', (_what, input) => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    const given = input(dialer);
    const refused = 'retry: expected an input that can be sent again, or a function that returns one, got one that can be read only once';
    expect(() => dialer.open$('p', { input: given, retry: 'safe' })).toThrow(new TypeError(refused));
    expect(sent.filter(({ payload }) => payload === 'p')).toEqual([]);
  });

  it.each<[string, Input<unknown>]>([
    ['an array', ['a', 'b']],
    ['an Observable', of('a', 'b')],
    ['a function', () => ['a', 'b'].values()],
    ['a function that is its own iterator', Object.assign(making, { [Symbol.iterator]: () => making })],
    ['a collection with a method `next`', Object.assign(['a', 'b'], { next: () => undefined })],
  ])('An input that is %s is sent again by `retry`', async (_what, input) => {
    const { dialer, acceptor } = createPair();
    const given: unknown[] = [];
    let calls = 0;
    acceptor.onStream((_, stream) => {
      if (calls++ > 0) return stream.sendAll(stream);
      stream.reset(ResetCode.REFUSED);
      return undefined;
    });
    dialer.open$('p', { input, retry: { delay: 1 } }).subscribe((value) => given.push(value));
    await time.advance(10);
    expect([calls, given]).toEqual([2, ['a', 'b']]);
  });

  it('A call with `retry` asks an iterable for one iterator for each attempt, because nothing would release another one', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.sendAll(stream));
    let made = 0;
    const input = {
      [Symbol.asyncIterator]: () => {
        made++;
        return Readable.from(['a'])[Symbol.asyncIterator]();
      },
    };
    const seen: unknown[] = [];
    dialer.open$('p', { input, retry: 'safe' }).subscribe((value) => seen.push(value));
    await time.advance(10);
    expect([made, seen]).toEqual([1, ['a']]);
  });

  it('A call with an input completes when the remote has ended and the input is done', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => void stream.subscribe());
    const input = new Subject<number>();
    const seen: unknown[] = [];
    dialer.open$('p', { input }).subscribe({ complete: () => seen.push('complete') });
    await time.advance();
    expect(seen).toEqual([]);
    input.complete();
    await time.advance();
    expect(seen).toEqual(['complete']);
  });

  it('An input is stopped without an error when the remote needs no more', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply('enough'));
    const input = concat(of(1), NEVER);
    const seen: unknown[] = [];
    dialer
      .open$('p', { input })
      .subscribe({ next: (v) => seen.push(v), error: (e) => seen.push(e), complete: () => seen.push('complete') });
    await time.advance();
    expect(seen).toEqual(['enough', 'complete']);
  });

  it.each<[string, ObservableInput<unknown> | (() => ObservableInput<unknown>)]>([
    ['errors', throwError(() => new RangeError('no more'))],
    [
      'errors later',
      concat(
        timer(5),
        throwError(() => new RangeError('no more')),
      ),
    ],
    [
      'cannot be made',
      () => {
        throw new RangeError('no more');
      },
    ],
  ])('An input that %s resets the stream with its error, and the call fails with it', async (_what, input) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(() => new Promise(() => undefined));
    const sent = framesOf(dialer);
    const seen: unknown[] = [];
    dialer.open$('p', { input }).subscribe({ error: (error: unknown) => seen.push(error) });
    await time.advance(10);
    expect(seen).toEqual([expect.objectContaining({ name: 'RangeError', message: 'no more' })]);
    expect(sent.at(-1)).toEqual({
      type: 'reset',
      stream: 1,
      code: 16,
      payload: { name: 'RangeError', message: 'no more' },
      reason: 'no more',
    });
  });

  it('An empty input sends an open and an end', async () => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    dialer.open$('p', { input: EMPTY }).subscribe({ error: () => undefined });
    dialer.open$('p', { input: from([]) }).subscribe({ error: () => undefined });
    await time.advance();
    expect(sent.map((frame) => frame['type'])).toEqual(['open', 'data', 'open', 'data']);
  });
});
