import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, jest } from '@jest/globals';
import { concat, map, NEVER, of, range, Subject, take, tap, throwError } from 'rxjs';
import { respond, withCredit } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { endless } from '../../support/peer/endless.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { progressOf } from '../../support/peer/outcome.js';
import { learningPair } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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
    const outcome = progressOf(dialer.open().sendAll({ [Symbol.asyncIterator]: () => ({ next, ...returning }) } as AsyncIterable<unknown>));
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
    [undefined, 'unknown error'],
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
