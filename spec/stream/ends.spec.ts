import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  asyncScheduler,
  config,
  defer,
  finalize,
  from,
  mergeAll,
  NEVER,
  Observable,
  of,
  Subject,
  Subscription,
  takeUntil,
  tap,
  throwError,
  using,
} from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { reopenOnReconnect, respond, through, withCredit } from '../../src/index.js';
import type { Peer, Stream } from '../../src/index.js';
import { Deadlines } from '../../src/stream/deadlines.js';
import type { Deadline } from '../../src/stream/deadlines.js';
import { createPair } from '../../src/testing.js';
import type { Pair } from '../../src/testing.js';
import { ABSENT } from '../../src/wire/frame.js';
import fc from '../support/fast-check.js';
import { answers, refuses } from '../support/peer/answers.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { opened, read, stays } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { throws } from '../support/peer/user-code.js';
import { inTime } from '../support/session/time.js';

describe('`reset`', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  it.each<[string, unknown[]]>([
    ['a code that is no integer', [1.5]],
    ['a code that is no number', ['CANCEL']],
    ['NaN', [NaN]],
    ['a reason that is no text', [300, 5]],
  ])('`reset` throws a TypeError for %s and resets nothing', async (_what, args) => {
    const { dialer, stream } = opened(stays);
    const sent = framesOf(dialer);
    expect(() => {
      stream.reset(...(args as [number, string]));
    }).toThrow(TypeError);
    await time.advance();
    expect([sent, stream.cause]).toEqual([[], null]);
  });

  it('`reset` with REFUSED is allowed only before the first frame of a remote stream', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => {
      if (payload === 'begun') void stream.send(1);
      if (payload === 'begun')
        expect(() => {
          stream.reset(7);
        }).toThrow(TypeError);
      else stream.reset(7, 'not here');
    });
    const streams = ['begun', 'fresh'].map((payload) => dialer.open(payload, { end: true }));
    expect(() => {
      streams[0]?.reset(7);
    }).toThrow(TypeError);
    await time.advance();
    expect(streams.map((stream) => stream.cause)).toEqual([
      { how: 'ended' },
      { how: 'reset', by: 'remote', code: 7, reason: 'not here', payload: null },
    ]);
  });

  it('`reset` of a closed stream does nothing', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply());
    const stream = dialer.open(null, { end: true });
    await time.advance();
    const sent = framesOf(dialer);
    stream.reset(300, 'late');
    await time.advance();
    expect([sent, stream.cause]).toEqual([[], { how: 'ended' }]);
    await expect(stream.send(1)).rejects.toThrow('stream 1: expected nothing to be sent after the end');
    expect(logs.warnings).toHaveLength(1);
  });

  it.each([
    ['a code of the application, with a payload', 300, 'why', { left: 2 }, 'RESET', 300],
    ['a code of the protocol', 6, '', null, 'RESET', 6],
    ['APPLICATION_ERROR', 16, 'no', null, 'RESET', 16],
    ['CANCEL', 8, 'enough', null, 'CANCELLED', undefined],
  ])('Readers receive the code, reason and payload of a local `reset`: %s', async (_what, code, reason, payload, name, resetCode) => {
    const { stream } = opened(stays);
    const seen = read(stream);
    stream.reset(code, reason, payload);
    await time.advance();
    const [error] = seen;
    expect(seen).toHaveLength(1);
    expect(error).toMatchObject({ code: name, streamId: 1 });
    if (resetCode !== undefined) expect(error).toMatchObject({ resetCode, reason, payload });
  });

  it('Readers of a refused stream receive the code of the refusal', async () => {
    const { dialer, acceptor } = createPair();
    const seen: unknown[] = [];
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: (error: unknown) => seen.push(error) });
      stream.reset(7, 'not here');
    });
    dialer.open();
    await time.advance();
    expect(seen).toEqual([expect.objectContaining({ code: 'RESET', resetCode: 7, reason: 'not here', streamId: 1 })]);
  });

  it('The error of `reset` with REFUSED on a stream that has begun says why', () => {
    const { stream } = opened(stays);
    expect(() => {
      stream.reset(7);
    }).toThrow(new TypeError('reset: expected another code than REFUSED, which vouches that nothing was done, on a stream that has begun'));
  });

  it('`reset` cuts a long reason to 1 024 bytes at a code point', () => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.reset(300, '€'.repeat(400));
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 300, reason: '€'.repeat(341) }]);
  });
});

const MANY = 1_000;
const NEVER_DUE = { expire: () => undefined };

/** Calls that follow each other at once. */
function callOneByOne(deadlines: Deadlines, calls: number, timeoutMs: number): void {
  for (let n = 0; n < calls; n++) {
    const deadline = deadlines.add(NEVER_DUE, timeoutMs);
    if (deadline !== null) deadlines.cancel(deadline);
  }
}

describe('Deadlines', () => {
  it.each([0, -1, Infinity])('Deadlines returns null for %d ms', (timeoutMs) => {
    inTime((time) => {
      expect(new Deadlines().add(NEVER_DUE, timeoutMs)).toBeNull();
      expect(time.isOver).toBe(true);
    })();
  });

  it(
    'Deadlines expires 1 000 different time-outs one by one',
    inTime((time) => {
      const deadlines = new Deadlines();
      const expired: number[] = [];
      const expire = (timeoutMs: number): void => {
        expired.push(timeoutMs);
      };
      for (let n = MANY; n > 0; n--) deadlines.add({ expire }, n);
      time.advance(1);
      expect(expired).toEqual([1]);
      time.advance(2);
      expect(expired).toEqual([1, 2, 3]);
    }),
  );

  it(
    'Deadlines shares one timer between calls that follow each other, and keeps it until it is due',
    inTime((time) => {
      const set = jest.spyOn(asyncScheduler, 'schedule');
      const deadlines = new Deadlines();
      callOneByOne(deadlines, 100, 20);
      expect([set.mock.calls.length, time.isOver]).toEqual([100, true]);
      callOneByOne(deadlines, 100, 20);
      expect([set.mock.calls.length, time.isOver]).toEqual([101, false]);
      time.advance(20);
      expect([set.mock.calls.length, time.isOver]).toEqual([101, true]);
      callOneByOne(deadlines, 100, 20);
      expect([set.mock.calls.length, time.isOver]).toEqual([201, true]);
      set.mockRestore();
    }),
  );

  it(
    'Deadlines expires entries in time while it keeps a shared timer',
    inTime((time) => {
      const deadlines = new Deadlines();
      const expired: string[] = [];
      callOneByOne(deadlines, 101, 20);
      time.advance(5);
      deadlines.add({ expire: (ms) => expired.push(`${ms} at ${time.now}`) }, 20);
      const long = deadlines.add({ expire: (ms) => expired.push(`${ms} at ${time.now}`) }, 40);
      const short = deadlines.add({ expire: (ms) => expired.push(`${ms} at ${time.now}`) }, 10);
      time.advance(35);
      expect([short === null, expired]).toEqual([false, ['10 at 15', '20 at 25']]);
      if (long !== null) deadlines.cancel(long);
      callOneByOne(deadlines, 1, 10);
      time.advance(40);
      expect([expired.length, time.isOver]).toEqual([2, true]);
    }),
  );

  it(
    'Deadlines keeps no timer after `close`',
    inTime((time) => {
      const deadlines = new Deadlines();
      callOneByOne(deadlines, 101, 20);
      const last = deadlines.add(NEVER_DUE, 30);
      deadlines.close();
      expect(time.isOver).toBe(false);
      if (last !== null) deadlines.cancel(last);
      expect(time.isOver).toBe(true);
      callOneByOne(deadlines, 200, 20);
      expect(time.isOver).toBe(true);
    }),
  );

  it('Deadlines expires entries in the order of their time, never a cancelled one, and leaves no timer', () => {
    const act = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ lift: fc.nat({ max: 30 }) }),
      fc.record({ wait: fc.integer({ min: 1, max: 10 }) }),
    );
    fc.assert(
      fc.property(fc.boolean(), fc.array(act, { maxLength: 60 }), (afterMany, acts) => {
        inTime((time) => {
          const deadlines = new Deadlines();
          if (afterMany) callOneByOne(deadlines, 101, 10);
          const expired: string[] = [];
          const due: { readonly name: string; readonly at: number; readonly deadline: Deadline | null }[] = [];
          const expected: string[] = [];
          const pass = (ms: number): void => {
            const passed = due.filter(({ at }) => at <= time.now + ms).sort((a, b) => a.at - b.at);
            expected.push(...passed.map(({ name, at }) => `${name} at ${at}`));
            for (const one of passed) due.splice(due.indexOf(one), 1);
            time.advance(ms);
          };
          let made = 0;
          for (const next of acts) {
            if ('add' in next) {
              const name = `${made++} of ${next.add}`;
              const item = { expire: (timeoutMs: number) => expired.push(`${name.replace(/\d+$/, String(timeoutMs))} at ${time.now}`) };
              due.push({ name, at: time.now + next.add, deadline: deadlines.add(item, next.add) });
            } else if ('lift' in next) {
              const [cancelled] = due.splice(next.lift, 1);
              if (cancelled?.deadline != null) deadlines.cancel(cancelled.deadline);
            } else pass(next.wait);
          }
          pass(20);
          expect(expired.sort()).toEqual(expected.sort());
          deadlines.close();
          expect(time.isOver).toBe(true);
        })();
      }),
    );
  });
});

describe('teardown order', () => {
  const time = virtualPeerTime();

  const CALLS: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
    ['request$', (peer) => peer.request$('p')],
    ['open$', (peer) => peer.open$('p')],
    ['open$ with an input', (peer) => peer.open$('p', { input: from(['i']) })],
    ['open$ with retry', (peer) => peer.open$('p', { retry: 'safe' })],
    ['a stream', (peer) => peer.open('p', { end: true })],
    ['through', (peer) => from(['i']).pipe(through(peer, 'p'))],
    ['reopenOnReconnect', (peer) => reopenOnReconnect(peer, { open: () => peer.open$('p') })],
  ];

  describe.each(CALLS)('%s', (_what, call) => {
    /** The events of one call in order. `end` receives the stream of the server and the subscription. */
    async function ordered(end: (remote: Stream, subscription: Subscription) => unknown): Promise<readonly string[]> {
      const { dialer, acceptor } = createPair();
      const streams$ = new Subject<Stream>();
      acceptor.onStream((_, stream) => {
        stream.subscribe({ error: () => undefined });
        streams$.next(stream);
        return stream.closed;
      });
      const told: string[] = [];
      const called$ = using(
        () => new Subscription(() => told.push('resource')),
        () => call(dialer).pipe(finalize(() => told.push('finalize'))),
      );
      const subscription = called$.subscribe({ error: () => told.push('error'), complete: () => told.push('complete') });
      subscription.add(() => told.push('added'));
      streams$.subscribe((remote) => {
        dialer.onFrame((direction, { type }) => direction === 'tx' && type === 'reset' && told.push('reset'));
        end(remote, subscription);
      });
      await time.advance();
      return told;
    }

    it('A call is cancelled before its teardowns run', async () => {
      const told = await ordered((_remote, subscription) => {
        subscription.unsubscribe();
        subscription.unsubscribe();
      });
      expect(told).toEqual(['reset', 'finalize', 'resource', 'added']);
    });

    it('A call completes before its teardowns run', async () => {
      expect(await ordered((remote) => remote.reply('r'))).toEqual(['complete', 'finalize', 'resource', 'added']);
    });

    it('A call errors before its teardowns run', async () => {
      expect(await ordered((remote) => remote.reset(300))).toEqual(['error', 'finalize', 'resource', 'added']);
    });
  });

  it('A waiting input is released after its unsubscribed call has sent a reset', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(stays);
    const told: string[] = [];
    const subscription = dialer.open$('p', { input: NEVER.pipe(finalize(() => told.push('input'))) }).subscribe();
    await time.advance();
    dialer.onFrame((_direction, { type }) => told.push(type));
    subscription.unsubscribe();
    await time.advance();
    expect(told).toEqual(['reset', 'input']);
  });
});

describe('teardown that throws', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  const fails = (): never => {
    throw new Error('a teardown');
  };
  const unheard = { error: () => undefined };

  /** Subscribes with a teardown that throws. rxjs throws its error into the code that ends the subscription: the library. */
  const STREAM_WAYS: readonly (readonly [string, (stream: Stream) => unknown, string])[] = [
    ['a reader', (stream) => stream.subscribe(unheard).add(fails), 'a subscriber of a stream'],
    ['finalize at a reader', (stream) => stream.pipe(finalize(fails)).subscribe(unheard), 'a subscriber of a stream'],
    [
      'finalize at its reply headers',
      ({ replyHeaders$ }) => replyHeaders$.pipe(finalize(fails)).subscribe(),
      'a subscriber of replyHeaders$',
    ],
  ];

  const CALL_WAYS: readonly (readonly [string, (peer: Peer, onOpen: (stream: Stream) => void) => unknown, string])[] = [
    ...STREAM_WAYS.map(
      ([what, subscribe, blamed]) =>
        [
          what,
          (peer: Peer, onOpen: (stream: Stream) => void) => {
            const stream = peer.open('p');
            subscribe(stream);
            onOpen(stream);
          },
          blamed,
        ] as const,
    ),
    ['open$', (peer, onOpen) => peer.open$('p', { onOpen }).subscribe(unheard).add(fails), 'a subscriber of a stream'],
    [
      'finalize at open$',
      (peer, onOpen) => peer.open$('p', { onOpen }).pipe(finalize(fails)).subscribe(unheard),
      'a subscriber of a stream',
    ],
    [
      'finalize at request$',
      (peer, onOpen) => peer.request$('p', { onOpen }).pipe(finalize(fails)).subscribe(unheard),
      'a subscriber of a stream',
    ],
  ];

  /** How a stream ends. */
  const ENDS: readonly (readonly [string, (pair: Pair, remote: Stream) => unknown, object])[] = [
    ['is reset by the remote', (_pair, remote) => remote.reset(300, 'enough'), { how: 'reset', by: 'remote', code: 300 }],
    ['loses its connection', ({ link }) => link.cut(), { how: 'lost' }],
    ['is cancelled by the closing peer', ({ dialer }) => void dialer.close(), { how: 'reset', by: 'library' }],
  ];

  describe.each(CALL_WAYS)('Failing teardown of %s', (_what, call, blamed) => {
    it.each(ENDS)('A failing teardown of a stream that %s is logged, and all other code receives the end', async (_how, end, cause) => {
      const pair = createPair();
      const [locals, remotes]: [Stream[], Stream[]] = [[], []];
      pair.acceptor.streams$
        .pipe(
          tap((stream) => remotes.push(stream)),
          mergeAll(),
        )
        .subscribe(unheard);
      const frames = framesOf(pair.dialer);
      call(pair.dialer, (stream) => locals.push(stream));
      await time.advance();
      const [[local], [remote]] = [locals, remotes];
      if (local === undefined || remote === undefined) throw new Error('expected a stream');
      const told: unknown[] = [];
      const { signal } = local;
      local.subscribe({ error: () => told.push('another reader') });
      local.replyHeaders$.subscribe({ complete: () => told.push('another of the reply headers') });
      void local.closed.then((given) => told.push(given));
      // A call whose open carries the end accepts no input.
      const inputs = local.phase === 'open' ? ['the input'] : [];
      for (const input of inputs) void local.sendAll(new Observable(() => () => told.push(input)));
      end(pair, remote);
      await time.advance();
      const expected = [expect.objectContaining(cause), 'another reader', 'another of the reply headers', ...inputs];
      expect(told).toHaveLength(expected.length);
      expect(told).toEqual(expect.arrayContaining(expected));
      expect(signal.aborted).toBe(true);
      expect(logs.errors).toEqual([`rxmux: ${blamed} failed`]);
      expect(frames.filter(({ code }) => code === 2)).toEqual([]);
    });
  });

  describe('Failing teardown', () => {
    it('A failing teardown of `request$` at its answer leaves the stream open', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(async (_, stream) => {
        await stream.send('answer');
        await new Promise(() => undefined);
      });
      const frames = framesOf(dialer);
      const told: unknown[] = [];
      dialer
        .request$('p')
        .pipe(finalize(fails))
        .subscribe((answer) => told.push(answer));
      await time.advance();
      expect([told, logs.errors]).toEqual([['answer'], ['rxmux: a subscriber of a stream failed']]);
      expect(frames).toEqual([expect.objectContaining({ type: 'open' })]);
    });

    it('A failing teardown of a reader does not stop the answer after the end of the remote', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(async (_, stream) => {
        stream.subscribe({ complete: () => void stream.reply('answer') }).add(fails);
        await stream.closed;
      });
      const stream = dialer.open('p');
      const told: unknown[] = [];
      stream.subscribe((value) => told.push(value));
      void stream.sendAll(['input']);
      await time.advance();
      expect([told, logs.errors]).toEqual([['answer'], ['rxmux: a subscriber of a stream failed']]);
    });

    it('A failing teardown of an input is logged when its stream ends, and other code receives the end', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        stream.reset(300, 'enough');
      });
      const told: unknown[] = [];
      const signals: AbortSignal[] = [];
      dialer
        .open$('p', {
          input: new Observable(() => fails),
          onOpen(stream) {
            signals.push(stream.signal);
            void stream.closed.then(() => told.push('closed'));
          },
        })
        .subscribe({ error: (error: unknown) => told.push(String(error)) });
      await time.advance();
      expect(told).toEqual(['ResetError: stream 1: reset with 300: enough', 'closed']);
      expect(signals).toEqual([expect.objectContaining({ aborted: true })]);
      expect(logs.errors).toEqual(['rxmux: ending an input failed']);
    });
  });

  /** Observables of a peer that complete with the peer. */
  const OF_PEER: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
    ['status$', ({ status$ }) => status$],
    ['streams$', ({ streams$ }) => streams$],
    ['frames$', ({ frames$ }) => frames$],
    ['closes$', ({ closes$ }) => closes$],
  ];

  describe.each(OF_PEER)('Failing teardown of a subscriber of %s', (name, watched) => {
    it('A failing teardown of one subscriber is logged, and all other observables of the peer complete', async () => {
      const { dialer } = createPair();
      const told: string[] = [];
      watched(dialer).subscribe().add(fails);
      for (const [other, of] of OF_PEER) of(dialer).subscribe({ complete: () => told.push(other) });
      void dialer.closed.then(() => told.push('closed'));
      void dialer.close();
      await time.advance();
      expect(new Set(told)).toEqual(new Set([...OF_PEER.map(([other]) => other), 'closed']));
      expect(logs.errors).toEqual([`rxmux: a subscriber of ${name} failed`]);
    });
  });
});

describe('unsubscribed at once', () => {
  const time = virtualPeerTime();

  interface Options {
    readonly onOpen?: () => undefined;
  }

  type Call = (peer: Peer, options: Options) => Observable<unknown>;

  const CALLS: readonly (readonly [string, Call])[] = [
    ['request$', (peer, options) => peer.request$('p', options)],
    ['open$', (peer, options) => peer.open$('p', options)],
    ['open$ with an input that waits', (peer, options) => peer.open$('p', { ...options, input: NEVER })],
    ['open$ with a synchronous input', (peer, options) => peer.open$('p', { ...options, input: from([1, 2]) })],
    ['open$ with an input that is pulled', (peer, options) => peer.open$('p', { ...options, input: [1, 2] })],
    ['through', (peer, options) => NEVER.pipe(through(peer, 'p', options))],
  ];

  /** Code that runs while the call is being subscribed to. */
  const PLACES: readonly (readonly [string, (peer: Peer, leave: () => undefined) => Options])[] = [
    ['onOpen', (_peer, leave) => ({ onOpen: leave })],
    [
      'an open interceptor',
      (peer, leave) => {
        peer.interceptOpen(leave);
        return {};
      },
    ],
    [
      'an observer of the open',
      (peer, leave) => {
        peer.onFrame((_direction, { type }) => (type === 'open' ? leave() : undefined));
        return {};
      },
    ],
  ];

  describe.each(PLACES)('Unsubscribing within %s', (_place, hang) => {
    it.each(CALLS)('An unsubscribe while %s is subscribed to cancels the stream once', async (_call, call) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(stays);
      await time.advance();
      const frames = framesOf(dialer);
      const left = new Subject<void>();
      const told: unknown[] = [];
      const options = hang(dialer, () => {
        left.next();
        return undefined;
      });
      call(dialer, options)
        .pipe(takeUntil(left))
        .subscribe({ next: (value) => told.push(value), error: (error) => told.push(error), complete: () => told.push('complete') });
      await time.advance();
      expect(told).toEqual(['complete']);
      expect(frames.filter(({ type }) => type !== 'data')).toEqual([
        expect.objectContaining({ type: 'open', stream: 1 }),
        { type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' },
      ]);
    });
  });

  describe('`respond` that its project unsubscribes', () => {
    const released: string[] = [];
    const upload = (): ReadableStream => new ReadableStream({ cancel: () => void released.push('cancelled') });

    it.each<[string, () => ObservableInput<unknown>, readonly string[]]>([
      ['an Observable is not subscribed to', () => defer(() => of(released.push('subscribed'))), []],
      ['a promise may reject unseen', () => Promise.reject(new Error('late')), []],
      ['a ReadableStream is cancelled', upload, ['cancelled']],
    ])('Unsubscribing `respond` in its project cancels the stream and does not refuse it, and %s', async (_what, answer, expected) => {
      released.length = 0;
      const { dialer, acceptor } = createPair();
      const frames = framesOf(acceptor);
      const handled: unknown[] = [];
      acceptor.onStream((payload) => void handled.push(payload));
      const left = new Subject<void>();
      const answered$ = respond(() => {
        left.next();
        return answer();
      });
      acceptor.streams$.pipe(answered$, takeUntil(left)).subscribe();
      const outcome = settled(dialer.request('p'));
      await time.advance();
      expect(await outcome).toMatchObject({ error: { code: 'RESET', resetCode: 8 } });
      expect(frames).toEqual([{ type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' }]);
      expect([handled, released]).toEqual([[], expected]);
    });
  });
});

describe('Late value', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  it.each<[string, (stream: Stream) => Promise<void>]>([
    ['send', (stream) => stream.send(1)],
    ['reply', (stream) => stream.reply(1)],
    ['end', (stream) => stream.end()],
  ])('A late %s rejects with a state error, which may stay unhandled, and warns once', async (_call, late) => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    await stream.end();
    void late(stream);
    await expect(late(stream)).rejects.toMatchObject({ code: 'PROTOCOL', message: expect.stringContaining('stream 1') });
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true }]);
    expect(logs.warnings).toEqual(['rxmux: stream 1: a value was sent after the end and is lost']);
    await time.advance();
  });

  it.each<[string, (dialer: Peer) => unknown]>([
    ['', (dialer) => dialer.request().catch(() => undefined)],
    [' that has stopped an upload', (dialer) => dialer.open()],
  ])('A value after an implicit end%s is lost with a warning that says how to answer later', async (_which, call) => {
    const streams: Stream[] = [];
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      streams.push(stream);
    });
    call(dialer);
    await time.advance();
    await expect(streams[0]?.send(1)).rejects.toMatchObject({ code: 'PROTOCOL' });
    expect(logs.warnings).toEqual([
      'rxmux: stream 1: a value was sent after the end and is lost; to answer later than the handler settles, return a promise from it or use respond()',
    ]);
  });

  it.each<[string, (stream: Stream) => void, object]>([
    [
      'this side has reset',
      (stream) => {
        stream.reset(300, 'why');
      },
      { code: 'RESET', resetCode: 300 },
    ],
    [
      'this side has cancelled',
      (stream) => {
        stream.reset();
      },
      { code: 'CANCELLED' },
    ],
  ])('A value on a stream that %s rejects with the cause, without a warning', async (_what, before, error) => {
    const { stream } = opened(stays);
    before(stream);
    await expect(stream.send(1)).rejects.toMatchObject(error);
    expect(logs.warnings).toEqual([]);
  });

  it.each<[string, (stream: Stream) => unknown, object]>([
    ['ended', (stream) => stream.end(), { code: 'PROTOCOL' }],
    ['reset', (stream) => stream.reset(300, 'why'), { code: 'RESET', resetCode: 300 }],
    ['cancelled', (stream) => stream.reset(), { code: 'CANCELLED' }],
  ])('A value whose stream is %s while it is encoded rejects like a later value', async (_what, before, error) => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    const toJSON = (): string => {
      before(stream);
      return 'late';
    };
    await expect(stream.send({ toJSON })).rejects.toMatchObject(error);
    expect(sent.filter(({ payload }) => payload !== undefined)).toEqual([]);
  });

  it('A value rejects like a later value when a reply-headers interceptor has closed the peer', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.interceptReplyHeaders(() => {
      void acceptor.close();
    });
    const outcomes: unknown[] = [];
    acceptor.onStream((_, stream) => stream.reply('late').catch((error: unknown) => outcomes.push(error)));
    void dialer.request().catch(() => undefined);
    await time.advance();
    expect(outcomes).toMatchObject([{ code: 'CANCELLED' }]);
  });

  it('An input that emits no value after the end of its stream completes without a warning', async () => {
    const { stream } = opened(stays);
    const input$ = new Subject<number>();
    const sent = stream.sendAll(input$);
    input$.next(1);
    void stream.end();
    input$.complete();
    await expect(sent).resolves.toBeUndefined();
    expect(logs.warnings).toEqual([]);
  });

  it('A value on a stream whose input failed with a text rejects with that text, without a warning', async () => {
    const { stream } = opened(stays);
    const thrown: unknown = 'text';
    await stream.sendAll(throwError(() => thrown)).catch(() => undefined);
    await expect(stream.send(1)).rejects.toBe(thrown);
    expect(logs.warnings).toEqual([]);
  });

  it('A value on a stream that the remote has reset rejects with the reset', async () => {
    const { stream } = opened((_, remote) => {
      remote.reset(300, 'why');
    });
    await time.advance();
    await expect(stream.send(1)).rejects.toMatchObject({ code: 'RESET', resetCode: 300, reason: 'why' });
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['ABSENT', ABSENT],
    ['a value the codec cannot represent', 1n],
  ])('`send` throws at once for %s, and the stream stays open', async (_what, value) => {
    const { stream } = opened((_, remote) => remote.sendAll(remote));
    const seen: unknown[] = [];
    stream.subscribe((echo) => seen.push(echo));
    expect(() => stream.send(value)).toThrow(TypeError);
    void stream.send('next');
    await time.advance();
    expect([seen, stream.phase]).toEqual([['next'], 'open']);
  });

  it('`reply` throws when its trailers fail, sends nothing, and leaves the stream open', async () => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.setTrailers(() => {
      throw new Error('no trailers');
    });
    expect(() => stream.reply(1)).toThrow('no trailers');
    stream.setTrailers(() => Promise.reject(new Error('the caller does not see this')));
    expect(() => stream.reply(1)).toThrow(TypeError);
    expect([sent, stream.phase]).toEqual([[], 'open']);
    await stream.reply(2, { trailers: { ok: true } });
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, payload: 2, trailers: { ok: true } }]);
  });

  it.each<[call: string, fails: (stream: Stream) => unknown]>([
    ['a reply with a value the codec cannot represent', (stream) => stream.reply(1n, { trailers: { of: 'the reply that failed' } })],
    [
      'a reply with headers that come too late',
      (stream) => stream.reply(1, { headers: { a: 1 }, trailers: { of: 'the reply that failed' } }),
    ],
    ['an end with trailers that fit no frame', (stream) => stream.end({ trailers: { much: 'x'.repeat(100_000) } })],
  ])('No trailers of %s stay for the next end', async (_call, fails) => {
    const { stream } = opened(stays);
    const sent = framesOf(stream.peer);
    stream.setTrailers({ rows: 1 });
    expect(() => fails(stream)).toThrow();
    await stream.end();
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, trailers: { rows: 1 } }]);
  });
});

describe('observers that throw', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  let unhandled: unknown[] = [];
  beforeEach(() => {
    unhandled = [];
    config.onUnhandledError = (error: unknown) => unhandled.push(String(error));
  });
  afterEach(() => {
    config.onUnhandledError = null;
  });

  const failing = { next: throws('next'), error: throws('error'), complete: throws('complete') };

  /** A stream and a bare `open$` are absent: the library itself reports the errors of their observers, and other specs cover them. */
  const CALLS: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
    ['request$', (peer) => peer.request$('p')],
    ['request$ with retry', (peer) => peer.request$('p', { retry: 'safe' })],
    ['open$ with an input', (peer) => peer.open$('p', { input: from(['i']) })],
    ['open$ with retry', (peer) => peer.open$('p', { retry: 'safe' })],
    ['through', (peer) => from(['i']).pipe(through(peer, 'p'))],
    ['reopenOnReconnect', (peer) => reopenOnReconnect(peer, { open: () => peer.open$('p') })],
    ['the consumer of withCredit', (peer) => withCredit(1).grant((credit$) => peer.open$('p', { input: credit$ }))],
  ];

  describe.each(CALLS)('Failing observer of %s', (_what, call) => {
    it.each([
      ['at its value and its completion', answers, ['Error: next', 'Error: complete']],
      ['at its error', refuses, ['Error: error']],
    ])('An observer that throws %s is reported to rxjs, and the call ends normally', async (_when, handler, expected) => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(handler);
      const frames = framesOf(dialer);
      const subscription = call(dialer).subscribe(failing);
      await time.advance();
      expect([unhandled, subscription.closed]).toEqual([expected, true]);
      expect([frames.filter(({ type }) => type === 'reset'), logs.errors]).toEqual([[], []]);
      expect([dialer.status.state, acceptor.status.state]).toEqual(['open', 'open']);
    });
  });

  /** Observables that emit during the life of a peer with one call. */
  const OF_PEER: readonly (readonly [string, (peer: Peer) => Observable<unknown>])[] = [
    ['status$', ({ status$ }) => status$],
    ['frames$', ({ frames$ }) => frames$],
    ['closes$', ({ closes$ }) => closes$],
  ];

  describe.each(OF_PEER)('Failing observer of %s', (_what, watched) => {
    it('An observer that throws is reported to rxjs, and later observers receive every event', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream(answers);
      let heard = 0;
      let completed = false;
      watched(dialer).subscribe(failing);
      watched(dialer).subscribe({ next: () => heard++, complete: () => (completed = true) });
      const answer = dialer.request('p');
      await time.advance();
      expect(await answer).toBe('answer');
      void dialer.close();
      await time.advance();
      expect(heard).toBeGreaterThan(0);
      expect([completed, unhandled]).toEqual([true, [...Array<string>(heard).fill('Error: next'), 'Error: complete']]);
      expect(logs.errors).toEqual([]);
    });
  });
});
