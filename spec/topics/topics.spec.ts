import { describe, expect, it } from '@jest/globals';
import { EMPTY, filter, firstValueFrom, from, lastValueFrom, map, NEVER, of, retry, Subject, take, throwError, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { client, contract, plain, stream } from '../../src/contract.js';
import { JsonCodec, RemoteError, respond } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { promisesSettled } from '../../src/testing/virtual-time.js';
import { answerTopic, catchUp, CursorLost, memoryBus, memoryLog, room, topic } from '../../src/topics.js';
import { lossIn } from '../../src/topics/cursor.js';
import { sourceOf } from '../../src/topics/log-source.js';
import type { CatchUpOptions, Log, Message, TopicItem } from '../../src/topics.js';

async function next<T>(items: AsyncIterator<T, undefined>): Promise<T> {
  const result = await items.next();
  if (result.done === true) throw new Error('expected an item, got the end');
  return result.value;
}

async function values<T>(items: AsyncIterator<TopicItem<T, string>, undefined>, count: number): Promise<(T | undefined)[]> {
  const all: (T | undefined)[] = [];
  while (all.length < count) all.push((await next(items)).value);
  return all;
}

/** Counts the messages of topics that it encodes. */
class CountingCodec extends JsonCodec {
  messages = 0;

  override encodePayload(payload: unknown): string {
    if (payload !== null && typeof payload === 'object' && 'value' in payload) this.messages++;
    return super.encodePayload(payload);
  }
}

const numbers = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, index) => first + index);

async function publishAll(log: Log<number, string>, first: number, last: number): Promise<void> {
  for (const number of numbers(first, last)) await log.publish(number);
}

describe('answerTopic', () => {
  it('`answerTopic` encodes a message once for all subscribers of a process', async () => {
    const log = memoryLog<string>();
    const codec = new CountingCodec();
    const { dialer, acceptor } = createPair({ codec });
    acceptor.streams$.pipe(respond((since: string | null) => answerTopic(log, since))).subscribe();
    const open = (since: string | null) => dialer.open$<TopicItem<string, string>>(since);
    const received = [1, 2, 3].map(() => firstValueFrom(topic<string, string>(dialer, (since) => open(since))));
    // A fourth subscriber has its place once the others have theirs, because the calls arrive in order.
    await firstValueFrom(open(null));
    await log.publish('hello');
    expect(await Promise.all(received)).toEqual(['hello', 'hello', 'hello']);
    expect(codec.messages).toBe(1);
  });

  it('`answerTopic` sends a lost cursor to the client of a contract, past an errorSerializer', async () => {
    const api = contract({ prices: stream({ payload: plain<{ since: string | null }>(), item: plain<TopicItem<number, string>>() }) });
    const log = memoryLog<number>();
    const { dialer } = createPair(
      api,
      { prices: ({ since }) => answerTopic(log, since) },
      { acceptor: { errorSerializer: () => 'nothing to see' } },
    );
    const calls = client(dialer, api);
    const prices$ = topic(dialer, (since: string | null) => calls.prices({ since: since ?? 'stale:7' }));
    const error: unknown = await lastValueFrom(prices$).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CursorLost);
    expect(error).toMatchObject({ resetTo: await firstValueFrom(from(log.head())), cause: { code: 'REMOTE' } });
  });
});

describe('a slow subscriber', () => {
  it('A slow subscriber holds up no other, and reads what it missed from the history', async () => {
    const log = memoryLog<number>();
    const slow = answerTopic(log, null)[Symbol.asyncIterator]();
    const quick = catchUp(log, null)[Symbol.asyncIterator]();
    await next(slow);
    await next(quick);
    for (let last = 500; last <= 3_000; last += 500) {
      await publishAll(log, last - 499, last);
      expect(await values(quick, 500)).toEqual(numbers(last - 499, last));
    }
    for (const number of numbers(1, 3_000)) expect((await next(slow)).value).toMatchObject({ value: number });
  });

  it('A slow subscriber learns of it where the history is gone', async () => {
    const log = memoryLog<number>({ keep: 500 });
    const slow = catchUp(log, null)[Symbol.asyncIterator]();
    await next(slow);
    await publishAll(log, 1, 2_000);
    await expect(slow.next()).rejects.toThrow(CursorLost);
    expect(await slow.next()).toEqual({ done: true, value: undefined });
  });

  it('A slow subscriber learns of it where its history is trimmed while it reads', async () => {
    const log = memoryLog<number>({ keep: 3 });
    const place = await log.publish(1);
    await publishAll(log, 2, 4);
    const slow = catchUp(log, place)[Symbol.asyncIterator]();
    expect(await next(slow)).toMatchObject({ value: 2 });
    await publishAll(log, 5, 8);
    await expect(slow.next()).rejects.toThrow(CursorLost);
    expect(await slow.next()).toEqual({ done: true, value: undefined });
  });

  it.each<{ overflow: 'latest' | { dropOldest: number }; kept: number[] }>([
    { overflow: 'latest', kept: [20] },
    { overflow: { dropOldest: 3 }, kept: [18, 19, 20] },
  ])('A slow subscriber gets the newest messages with $overflow', async ({ overflow, kept }) => {
    const log = memoryLog<number>();
    const slow = catchUp(log, null, { overflow })[Symbol.asyncIterator]();
    await next(slow);
    // An asked reader holds no messages back, so the first one is received.
    const first = next(slow);
    await publishAll(log, 1, 20);
    expect((await first).value).toBe(1);
    expect(await values(slow, kept.length)).toEqual(kept);
  });

  it("A slow subscriber fails at 1 000 waiting messages with 'error'", async () => {
    const log = memoryLog<number>();
    const slow = catchUp(log, null, { overflow: 'error' })[Symbol.asyncIterator]();
    await next(slow);
    const first = next(slow);
    await publishAll(log, 1, 1_002);
    await first;
    await expect(slow.next()).rejects.toThrow('more than 1000 messages wait for this subscriber');
  });
});

describe('catchUp', () => {
  it('An iterator of `catchUp` releases the log when its loop ends', async () => {
    const live$ = new Subject<Message<number, string>>();
    const log: Log<number, string> = { ...memoryLog<number>(), live$, head: () => of('a'), history: () => NEVER };
    for await (const item of catchUp(log, null)) {
      expect([item, live$.observed]).toEqual([{ cursor: 'a' }, true]);
      break;
    }
    expect(live$.observed).toBe(false);
  });

  it('An iterator of `catchUp` that is left ends its pull', async () => {
    const items = catchUp(memoryLog<number>(), null)[Symbol.asyncIterator]();
    await items.next();
    const pulled = items.next();
    await items.return?.();
    expect(await pulled).toEqual({ done: true, value: undefined });
  });

  it('`catchUp` errors with what head and history throw', async () => {
    const thrown = new Error('no broker');
    const throws = (): never => {
      throw thrown;
    };
    const log: Log<number, string> = { ...memoryLog<number>(), live$: NEVER, head: throws, history: throws };
    await expect(lastValueFrom(catchUp(log, null))).rejects.toBe(thrown);
    await expect(lastValueFrom(catchUp(log, 'a'))).rejects.toBe(thrown);
  });

  it('`catchUp` goes on with live messages where the head is empty', async () => {
    const live$ = new Subject<Message<number, string>>();
    const log: Log<number, string> = { ...memoryLog<number>(), live$, head: () => EMPTY };
    const first = firstValueFrom(catchUp(log, null));
    live$.next({ cursor: 'a', value: 1 });
    expect(await first).toEqual({ cursor: 'a', value: 1 });
  });
});

describe('the start of a log', () => {
  const valuesOf = async (items$: Observable<TopicItem<number, string>>, count: number) =>
    (await lastValueFrom(items$.pipe(take(count), toArray()))).map(({ value }) => value);

  it("`catchUp` emits every kept message with `from: 'start'`, and then new ones", async () => {
    const log = memoryLog<number>({ keep: 2 });
    await publishAll(log, 1, 3);
    const received = valuesOf(catchUp(log, null, { from: 'start' }), 3);
    await log.publish(4);
    expect(await received).toEqual([2, 3, 4]);
  });

  it.each([
    ['an empty log', memoryLog<number>()],
    ['a room', room<number>(memoryBus(), 'numbers')],
  ])("`catchUp` emits the bare cursor of %s with `from: 'start'`", async (_, log) => {
    const received = valuesOf(catchUp(log, null, { from: 'start' }), 2);
    await promisesSettled();
    await log.publish(1);
    expect(await received).toEqual([undefined, 1]);
  });

  it("`from: 'start'` leaves a subscriber with a place alone", async () => {
    const log = memoryLog<number>();
    const place = await log.publish(1);
    await log.publish(2);
    expect(await valuesOf(catchUp(log, place, { from: 'start' }), 1)).toEqual([2]);
  });

  it("`catchUp` errors with what head and history throw, with `from: 'start'`", async () => {
    const thrown = new Error('no broker');
    const throws = (): never => {
      throw thrown;
    };
    const log = memoryLog<number>();
    const from = { from: 'start' } as const;
    await expect(lastValueFrom(catchUp({ ...log, live$: NEVER, head: throws }, null, from))).rejects.toBe(thrown);
    await expect(lastValueFrom(catchUp({ ...log, live$: NEVER, head: () => ['a'], history: throws }, null, from))).rejects.toBe(thrown);
  });

  it('`catchUp` refuses another start', () => {
    const options = { from: 'beginning' } as unknown as CatchUpOptions;
    expect(() => catchUp(memoryLog(), null, options)).toThrow("from: expected 'end' or 'start', got 'beginning'");
  });
});

describe('memoryLog', () => {
  const received = <T>(log: Log<T, string>, count: number): Promise<(T | undefined)[]> =>
    firstValueFrom(
      catchUp(log, null).pipe(
        filter(({ value }) => value !== undefined),
        map(({ value }) => value),
        take(count),
        toArray(),
      ),
    );

  it('`memoryLog` publishes the same key once', async () => {
    const log = memoryLog<string>({ keep: 2 });
    const texts = received(log, 4);
    const cursor = await log.publish('a', { key: '1' });
    expect(await log.publish('a', { key: '1' })).toBe(cursor);
    await log.publish('b', { key: '2' });
    await log.publish('c');
    // The key is forgotten with its message.
    expect(await log.publish('a', { key: '1' })).not.toBe(cursor);
    expect(await texts).toEqual(['a', 'b', 'c', 'a']);
  });

  it('`memoryLog` emits in order where a subscriber publishes', async () => {
    const log = memoryLog<string>();
    catchUp(log, null)
      .pipe(filter(({ value }) => value === 'a'))
      .subscribe(() => void log.publish('b'));
    const texts = received(log, 3);
    await log.publish('a');
    await log.publish('c');
    expect(await texts).toEqual(['a', 'b', 'c']);
  });

  it.each<unknown>([undefined, '', 'x', 'x:', ':1', 'x:1', '7', 7, {}, 'x:-1', 'x:1e3'])(
    'A log in memory calls the cursor %j lost',
    async (cursor) => {
      const log = memoryLog<string>();
      const end = await log.publish('a');
      expect(() => log.history(cursor as string)).toThrow(expect.objectContaining({ code: 'REMOTE', resetTo: end }));
    },
  );

  it('A log in memory calls cursors beyond its end lost', async () => {
    const log = memoryLog<string>();
    const end = await log.publish('a');
    expect(() => log.history(end.replace(/\d+$/, '2'))).toThrow(CursorLost);
    expect(await lastValueFrom(from(log.history(end)), { defaultValue: null })).toBeNull();
  });

  it('A history in memory holds no list of its messages, so one that is trimmed before it is read is lost', async () => {
    const log = memoryLog<number>({ keep: 3 });
    const place = await log.publish(1);
    await publishAll(log, 2, 4);
    const histories = [log.history(place), log.history(null)].map((history) => sourceOf(history));
    await publishAll(log, 5, 5);
    const read = histories.map((source) => new Promise((resolve, reject) => source.pull({ resolve, reject })));
    await expect(read[0]).rejects.toThrow(CursorLost);
    expect(await read[1]).toMatchObject({ value: { value: 3 } });
  });

  it('A history in memory ends where the log ended when it was asked', async () => {
    const log = memoryLog<number>();
    const place = await log.publish(1);
    await log.publish(2);
    const history = log.history(place);
    await log.publish(3);
    expect(
      await lastValueFrom(
        from(history).pipe(
          map(({ value }) => value),
          toArray(),
        ),
      ),
    ).toEqual([2]);
  });

  it('`memoryLog` refuses undefined, and a size that is none', async () => {
    await expect(memoryLog().publish(undefined)).rejects.toThrow('expected a value it can carry at value, got undefined');
    expect(() => memoryLog({ keep: 0 })).toThrow('keep: expected a number of at least 1, got 0');
  });
});

describe('a loss', () => {
  const rest = async (isRetried: boolean) => {
    const log = memoryLog<number>({ keep: 2 });
    await publishAll(log, 1, 4);
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((since: string | null) => answerTopic(log, since, { from: 'start' }))).subscribe();
    let opens = 0;
    const open = (since: string | null) => dialer.open$<TopicItem<number, string>>(opens++ === 0 ? 'stale:1' : since);
    const again = (error: unknown) => (error instanceof CursorLost ? of(0) : throwError(() => error));
    const values$ = isRetried
      ? topic<number, string>(dialer, open).pipe(retry({ delay: again }))
      : topic<number, string>(dialer, open, { onLost: () => EMPTY });
    const received = firstValueFrom(values$.pipe(take(isRetried ? 3 : 1), toArray()));
    await dialer.ping();
    await dialer.ping();
    await log.publish(5);
    return received;
  };

  it('A topic skips the kept messages too where `onLost` returns EMPTY, and gets them where it is subscribed again', async () => {
    expect(await rest(false)).toEqual([5]);
    expect(await rest(true)).toEqual([3, 4, 5]);
  });
});

describe('CursorLost', () => {
  it.each<unknown>([
    new Error('other'),
    new RemoteError('other', null),
    new RemoteError('other', { name: 'CursorLost' }),
    new RemoteError('other', { name: 'CursorLost', data: 'none' }),
    new RemoteError('other', { name: 'TAKEN', data: { resetTo: 1 } }),
    null,
  ])('`lossIn` finds no loss in %p', (error) => {
    expect(lossIn(error)).toBeNull();
  });
});
