import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Observable, firstValueFrom, lastValueFrom, mergeMap, NEVER, of, Subject, take, tap, throwError, toArray } from 'rxjs';
import { respond } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { CursorLost, replayable, topic } from '../../src/topics.js';
import type { Replayable, TopicItem } from '../../src/topics.js';
import { endless } from '../support/peer/endless.js';
import { collectLogs } from '../support/peer/logs.js';
import { CuttingLine } from '../support/socket/cutting-line.js';
import { portOf } from '../support/socket/handshake.js';
import { turn, until } from '../support/socket/leaks.js';

/** The values of an answer after a cursor. */
function valuesOf<T>(answer: Replayable<T>, cursor: string | null = null): Promise<(T | undefined)[]> {
  return items(answer.after(cursor)).then((all) => all.map(({ value }) => value));
}

function items<T>(items$: Observable<T>): Promise<T[]> {
  return lastValueFrom(items$.pipe(toArray()));
}

describe('replayable', () => {
  const logs = collectLogs();
  let time: VirtualTime;
  beforeEach(() => {
    time = virtualTime();
  });
  afterEach(() => {
    time.restore();
  });

  it('A pulled source runs at most half of `keep` ahead of its readers', async () => {
    const { iterator, pulled } = endless();
    const answer = replayable(iterator, { keep: 10 });
    expect(pulled.count).toBe(5);
    const { cursor } = await lastValueFrom(answer.after(null).pipe(take(3)));
    expect(pulled.count).toBe(8);
    // A slower reader does not move the source.
    await firstValueFrom(answer.after(null));
    expect(pulled.count).toBe(8);
    expect(await lastValueFrom(answer.after(cursor).pipe(take(1)))).toMatchObject({ value: 3 });
    expect(pulled.count).toBe(9);
    answer.stop();
  });

  it('A reader that falls too far behind another one gets CursorLost', async () => {
    const answer = replayable(endless().iterator, { keep: 10 });
    const slow = answer.after(null)[Symbol.asyncIterator]();
    expect(await slow.next()).toMatchObject({ value: { value: 0 } });
    await lastValueFrom(answer.after(null).pipe(take(20)));
    await expect(slow.next()).rejects.toBeInstanceOf(CursorLost);
    expect(await slow.next()).toEqual({ done: true, value: undefined });
    answer.stop();
  });

  it('A `keep` that is no integer keeps the last whole values', async () => {
    const source$ = new Subject<number>();
    const answer = replayable(source$, { keep: 2.5 });
    for (const value of [1, 2, 3]) source$.next(value);
    await expect(firstValueFrom(answer.after(null))).rejects.toBeInstanceOf(CursorLost);
    answer.stop();
  });

  it('Two readers get every value once, each from its own cursor on', async () => {
    const source$ = new Subject<string>();
    const answer = replayable(source$);
    const first = items(answer.after(null));
    source$.next('a');
    source$.next('b');
    const { cursor } = await firstValueFrom(answer.after(null));
    const second = items(answer.after(cursor));
    source$.next('c');
    source$.complete();
    expect((await first).map(({ value }) => value)).toEqual(['a', 'b', 'c']);
    expect((await second).map(({ value }) => value)).toEqual(['b', 'c']);
  });

  it.each<[string, () => Replayable<unknown>]>([
    ['an array', () => replayable([1, 2])],
    ['an Observable', () => replayable(of(1, 2))],
    ['an async generator', () => replayable(counting())],
    ['a function', () => replayable(() => counting())],
    ['a ReadableStream', () => replayable(readable())],
  ])('The source may be %s', async (_, make) => {
    expect(await valuesOf(make())).toEqual([1, 2]);
  });

  function readable(): ReadableStream<number> {
    return new ReadableStream({
      start: (to) => {
        for (const n of [1, 2]) to.enqueue(n);
        to.close();
      },
    });
  }

  async function* counting(): AsyncGenerator<number> {
    await turn();
    yield 1;
    yield 2;
  }

  it('A source that fails at its start is an error for its readers', async () => {
    const answer = replayable(() => {
      throw new Error('no model');
    });
    await expect(valuesOf(answer)).rejects.toThrow('no model');
    await expect(valuesOf(replayable(throwError(() => new Error('no line'))))).rejects.toThrow('no line');
    const failing = new Observable<never>((subscriber) => {
      subscriber.error(null);
    });
    await expect(valuesOf(replayable(failing))).rejects.toBe(null);
    const effect = { '~effect/Effect': {}, [Symbol.iterator]: () => [1].values() };
    await expect(valuesOf(replayable(effect))).rejects.toThrow('Effect.runPromise(effect)');
  });

  it('`stop` releases an iterator, and aborts the signal of a function', async () => {
    const { iterator, pulled } = endless();
    let signal: AbortSignal | null = null;
    const answer = replayable(
      (given) => {
        signal = given;
        return iterator;
      },
      { keep: 4 },
    );
    answer.stop();
    answer.stop();
    expect(pulled.stopped).toBe(1);
    expect(signal).toMatchObject({ aborted: true });
    expect(await valuesOf(answer)).toEqual([0, 1]);
  });

  it('A source that stops itself while it emits passes its last value', async () => {
    const source$ = new Subject<number>();
    const answer: Replayable<number> = replayable(source$.pipe(tap((n) => n === 2 && answer.stop())));
    const read = valuesOf(answer);
    source$.next(1);
    source$.next(2);
    expect(await read).toEqual([1]);
  });

  it('Pulls that do not await each other wait in line', async () => {
    const source$ = new Subject<number>();
    const reader = replayable(source$).after(null)[Symbol.asyncIterator]();
    const pulls = [reader.next(), reader.next(), reader.next()];
    source$.next(1);
    source$.next(2);
    await reader.return?.();
    expect((await Promise.all(pulls)).map(({ value }) => (value as { readonly value?: number } | undefined)?.value)).toEqual([
      1,
      2,
      undefined,
    ]);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it.each<unknown>(['', 'x', 'x:1', '7', 1, {}, [], true])('A cursor %j, which a client made up, is lost', async (cursor) => {
    const answer = replayable([1, 2, 3]);
    await expect(valuesOf(answer, cursor as string)).rejects.toBeInstanceOf(CursorLost);
  });

  it('A cursor of another answer is lost, and one beyond the end too', async () => {
    const { cursor } = await firstValueFrom(replayable([1]).after(null));
    const answer = replayable([1, 2]);
    const [, last] = await items(answer.after(null));
    await expect(valuesOf(answer, cursor)).rejects.toMatchObject({ resetTo: last?.cursor });
    await expect(valuesOf(answer, last?.cursor.replace(':2', ':3'))).rejects.toBeInstanceOf(CursorLost);
    expect(await valuesOf(answer, last?.cursor)).toEqual([]);
  });

  it.each<[unknown, unknown, string]>([
    [7, {}, 'replayable: expected an Observable, an iterable, or a function that returns one, got 7'],
    [null, {}, 'replayable: expected an Observable, an iterable, or a function that returns one, got null'],
    ['text', {}, "replayable: expected an Observable, an iterable, or a function that returns one, got 'text'"],
    [new Uint8Array(1), {}, 'expected an input of payloads'],
    [[], { keep: 0 }, 'keep: expected a number of at least 1, got 0'],
    [[], { idleMs: -1 }, 'idleMs: expected a number of at least 0, got -1'],
    [[], { idle: 1 }, 'idle'],
  ])('`replayable` refuses %p with the options %j', (source, options, message) => {
    expect(() => replayable(source as [], options as object)).toThrow(TypeError);
    expect(() => replayable(source as [], options as object)).toThrow(message);
  });

  it('`closed` resolves `idleMs` after the last reader, and says so to a reader that had everything', async () => {
    const { iterator, pulled } = endless();
    const answer = replayable(iterator, { keep: 4, idleMs: 1_000 });
    let isClosed = false;
    void answer.closed.then(() => (isClosed = true));
    const [, last] = await items(answer.after(null).pipe(take(2)));
    await time.advance(999);
    expect([isClosed, pulled.stopped]).toEqual([false, 0]);
    await time.advance(1);
    expect([isClosed, pulled.stopped]).toEqual([true, 1]);
    await expect(valuesOf(answer, last?.cursor)).rejects.toThrow(CursorLost);
    const end = `${String(last?.cursor.split(':')[0])}:4`;
    await expect(valuesOf(answer, end)).rejects.toThrow('the source was ended, because it had no reader for 1000 ms');
  });

  it('A reader that is there keeps a source without a value for ever, and `Infinity` keeps one without a reader', async () => {
    const read = replayable(NEVER, { idleMs: 1 });
    const kept = replayable(NEVER, { idleMs: Infinity });
    const closed: string[] = [];
    void read.closed.then(() => closed.push('read'));
    void kept.closed.then(() => closed.push('kept'));
    const reading = read.after(null).subscribe();
    await time.advance(3_600_000);
    expect(closed).toEqual([]);
    reading.unsubscribe();
    await time.advance(1);
    expect(closed).toEqual(['read']);
  });

  it('The log has the error of a source that no reader has met', async () => {
    const broken = () =>
      replayable(
        throwError(() => new Error('no model')),
        { idleMs: 1_000 },
      );
    await valuesOf(broken()).catch(() => undefined);
    await time.advance(2_000);
    expect(logs.errors).toEqual([]);
    broken();
    await time.advance(2_000);
    expect(logs.errors).toEqual(['rxmux: the source of a replayable has failed, and no reader came for its error']);
  });
});

/** So that no timer outlives its test. */
const IN_A_MOMENT = { idleMs: 1_000 };

describe('replayable over real sockets', () => {
  it('A reader whose socket is cut again and again gets every value once, in order', async () => {
    const total = 2_000;
    let connections = (): number => 0;
    const answer = replayable(async function* () {
      for (let n = 0; n < total; n++) {
        if (n % 10 === 0) await turn();
        // Up to 100 values are under way when a socket is cut, and the others need the next one.
        if (n % 500 === 100) await until('the next socket', () => connections() > Math.floor(n / 500));
        yield n;
      }
    }, IN_A_MOMENT);
    const server = serve({ port: 0, host: '127.0.0.1' });
    const answers = respond(({ since }: { since: string | null }) => answer.after(since));
    server.peers$.pipe(mergeMap((peer) => peer.streams$.pipe(answers))).subscribe();
    await server.listening;
    const line = await CuttingLine.open(portOf(server));
    connections = () => line.connections;
    const peer = connect(line.url, { reconnect: { minDelayMs: 1, maxDelayMs: 5 } });
    const received: number[] = [];
    const open = (since: string | null) => peer.open$<TopicItem<number>>({ since }, { retry: 'safe' });
    await lastValueFrom(
      topic(peer, open).pipe(
        tap((n) => {
          received.push(n);
          if (n % 500 === 499 && n < total - 1) line.cut();
        }),
      ),
    );
    expect(received).toEqual(Array.from({ length: total }, (_, n) => n));
    expect(connections()).toBe(4);
    await peer.close();
    await server.close();
    await line.close();
    await answer.closed;
  });

  it('A reader learns that its cursor is too old, past the serializer of the server', async () => {
    const answer = replayable(of(1, 2, 3), { keep: 1, ...IN_A_MOMENT });
    const server = serve({ port: 0, host: '127.0.0.1', errorSerializer: () => ({ message: 'hidden' }) });
    server.peers$.pipe(mergeMap((peer) => peer.streams$.pipe(respond(() => answer.after(null))))).subscribe();
    await server.listening;
    const peer = connect(`ws://127.0.0.1:${portOf(server)}`);
    const errors: unknown[] = [];
    topic(peer, () => peer.open$<TopicItem<number>>('go', { retry: 'safe' })).subscribe({
      error: (error: unknown) => errors.push(error),
    });
    await until('an error', () => errors.length > 0);
    expect(errors).toEqual([expect.any(CursorLost)]);
    await peer.close();
    await server.close();
    await answer.closed;
  });
});
