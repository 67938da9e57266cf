import { describe, expect, it } from '@jest/globals';
import {
  Observable,
  concat,
  EMPTY,
  filter,
  firstValueFrom,
  from,
  lastValueFrom,
  map,
  NEVER,
  of,
  retry,
  Subject,
  take,
  takeUntil,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import { marbles } from '../../marbles/support/virtual.js';
import { answer, client, contract, plain, stream } from '../../src/contract.js';
import type { StandardSchemaV1 } from '../../src/contract.js';
import { JsonCodec, RemoteError, respond } from '../../src/index.js';
import type { Codec } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { sequenceOf } from '../../src/nats/nats-cursor.js';
import { createPair } from '../../src/testing.js';
import { promisesSettled, virtualTime } from '../../src/testing/virtual-time.js';
import { answerTopic, catchUp, CursorLost, memoryBus, memoryLog, presence, replayable, room, topic, usersOf } from '../../src/topics.js';
import type { Bus, CatchUpOptions, Log, Message, TopicItem } from '../../src/topics.js';
import { lossIn } from '../../src/topics/cursor.js';
import { sourceOf } from '../../src/topics/log-source.js';
import { collectLogs } from '../support/peer/logs.js';
import { until } from '../support/socket/leaks.js';
import { nested } from './contract.js';

async function next<T>(items: AsyncIterator<T, undefined>): Promise<T> {
  const result = await items.next();
  if (result.done === true) throw new Error('expected an item, got the end');
  return result.value;
}

async function values<T>(items: AsyncIterator<TopicItem<T>, undefined>, count: number): Promise<(T | undefined)[]> {
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

async function publishAll(log: Log<number>, first: number, last: number): Promise<void> {
  for (const number of numbers(first, last)) await log.publish(number);
}

describe('answerTopic', () => {
  it('`answerTopic` encodes a message once for all subscribers of a process', async () => {
    const log = memoryLog<string>();
    const codec = new CountingCodec();
    const { dialer, acceptor } = createPair({ codec });
    acceptor.streams$.pipe(respond((since: string | null) => answerTopic(log, since))).subscribe();
    const open = (since: string | null) => dialer.open$<TopicItem<string>>(since);
    const received = [1, 2, 3].map(() => firstValueFrom(topic<string>(dialer, (since) => open(since))));
    // A fourth subscriber has its place once the others have theirs, because the calls arrive in order.
    await firstValueFrom(open(null));
    await log.publish('hello');
    expect(await Promise.all(received)).toEqual(['hello', 'hello', 'hello']);
    expect(codec.messages).toBe(1);
  });

  it('`answerTopic` sends a lost cursor to the client of a contract, past an errorSerializer', async () => {
    const api = contract({ prices: stream({ payload: plain<{ since: string | null }>(), item: plain<TopicItem<number>>() }) });
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

  it('A slow subscriber gets the newest messages behind an operator of a function around the answer', async () => {
    const api = contract({ texts: stream<void, TopicItem<string>>() });
    const log = memoryLog<string>();
    const texts = () => answerTopic(log, null, { overflow: { dropOldest: 3 } });
    const { calls, acceptor, link } = createPair(api, { texts }, { around: (_, next) => next().pipe(map((item) => item)) });
    const received: unknown[] = [];
    const reading = calls.texts().subscribe(({ value }) => received.push(value?.length));
    await acceptor.ping();
    link.stall('dialer');
    for (const length of numbers(65_537, 65_636)) await log.publish('x'.repeat(length));
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(acceptor.bufferedAmount).toBeLessThan(2_000_000);
    link.resume('dialer');
    await until('the newest', () => received.at(-1) === 65_636);
    expect(received.length).toBeLessThan(50);
    expect(received.slice(-3)).toEqual(numbers(65_634, 65_636));
    reading.unsubscribe();
    await acceptor.close();
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

  it.each([
    ['its place', null],
    ['its history', 0],
  ])("A subscriber that waits for %s fails at 1 000 waiting messages with 'error'", async (_, after) => {
    const live$ = new Subject<Message<number, number>>();
    const log: Log<number, number> = { live$, head: () => NEVER, history: () => NEVER, publish: () => Promise.resolve(0) };
    const end = lastValueFrom(catchUp(log, after, { overflow: 'error' }).pipe(takeUntil(timer(1_000))));
    for (const cursor of numbers(1, 1_001)) live$.next({ cursor, value: cursor });
    await expect(end).rejects.toThrow('more than 1000 messages wait for this subscriber');
    expect(live$.observed).toBe(false);
  });
});

describe('catchUp', () => {
  it('An iterator of `catchUp` releases the log when its loop ends', async () => {
    const live$ = new Subject<Message<number, string>>();
    const log: Log<number> = { ...memoryLog<number>(), live$, head: () => of('a'), history: () => NEVER };
    for await (const item of catchUp(log, null)) {
      expect([item, live$.observed]).toEqual([{ cursor: 'a' }, true]);
      break;
    }
    expect(live$.observed).toBe(false);
  });

  it('An iterator of `catchUp` that is left finds the end, also where its history fails afterwards', async () => {
    let fail: (error: Error) => void = () => undefined;
    const next = (): Promise<never> => new Promise((_, reject) => (fail = reject));
    const log: Log<number> = { ...memoryLog<number>(), live$: NEVER, history: () => ({ [Symbol.asyncIterator]: () => ({ next }) }) };
    const items = catchUp(log, 'a:1')[Symbol.asyncIterator]();
    const first = items.next();
    await items.return?.();
    fail(new Error('late'));
    expect([await first, await items.next()]).toEqual(Array(2).fill({ done: true, value: undefined }));
  });

  it('A null that the messages or the history of a log throw reaches the reader, and is no end', async () => {
    const items = (log: Partial<Log<number>>) => catchUp({ ...memoryLog<number>(), ...log }, 'a:1')[Symbol.asyncIterator]();
    const failing = new Observable<never>((subscriber) => {
      subscriber.error(null);
    });
    await expect(items({ live$: failing, history: () => [] }).next()).rejects.toBe(null);
    await expect(items({ live$: NEVER, history: () => failing }).next()).rejects.toBe(null);
  });

  it('An iterator of `catchUp` that is left ends its pull', async () => {
    const items = catchUp(memoryLog<number>(), null)[Symbol.asyncIterator]();
    await items.next();
    const pulled = items.next();
    await items.return?.();
    expect(await pulled).toEqual({ done: true, value: undefined });
  });

  it('A log and a replayable that are the input of a call with `retry` are released with the call', async () => {
    const time = virtualTime();
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => NEVER)).subscribe();
    const live$ = new Subject<Message<string, string>>();
    const log: Log<string> = { live$, head: () => ['a'], history: () => [], publish: () => Promise.resolve('a') };
    const answer = replayable(NEVER, { idleMs: 1_000 });
    let isClosed = false;
    void answer.closed.then(() => (isClosed = true));
    const calls = [catchUp(log, null), answer.after(null)].map((input) => dialer.open$(null, { input, retry: 'safe' }).subscribe());
    await time.advance(5_000);
    expect([live$.observed, isClosed]).toEqual([true, false]);
    for (const call of calls) call.unsubscribe();
    await time.advance(5_000);
    time.restore();
    expect([live$.observed, isClosed]).toEqual([false, true]);
  });

  it('`catchUp` errors with what head and history throw', async () => {
    const thrown = new Error('no broker');
    const throws = (): never => {
      throw thrown;
    };
    const log: Log<number> = { ...memoryLog<number>(), live$: NEVER, head: throws, history: throws };
    await expect(lastValueFrom(catchUp(log, null))).rejects.toBe(thrown);
    await expect(lastValueFrom(catchUp(log, 'a'))).rejects.toBe(thrown);
  });

  it('`catchUp` goes on with live messages where the head is empty', async () => {
    const live$ = new Subject<Message<number, string>>();
    const log: Log<number> = { ...memoryLog<number>(), live$, head: () => EMPTY };
    const first = firstValueFrom(catchUp(log, null));
    live$.next({ cursor: 'a', value: 1 });
    expect(await first).toEqual({ cursor: 'a', value: 1 });
  });
});

describe('the start of a log', () => {
  const valuesOf = async (items$: Observable<TopicItem<number>>, count: number) =>
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

  it("`catchUp` errors with what the first step of a history throws, with `from: 'start'` and a head that comes later", async () => {
    const thrown = new Error('no broker');
    const next = (): never => {
      throw thrown;
    };
    const log: Log<number> = {
      ...memoryLog<number>(),
      live$: NEVER,
      head: () => Promise.resolve('a'),
      history: () => ({ [Symbol.iterator]: () => ({ next }) }),
    };
    await expect(lastValueFrom(catchUp(log, null, { from: 'start' }).pipe(takeUntil(timer(1_000))))).rejects.toBe(thrown);
  });

  it.each<[unknown, string]>([
    ['buffer', "overflow: expected 'history', 'latest', 'error' or { dropOldest }, got 'buffer'"],
    [null, "overflow: expected 'history', 'latest', 'error' or { dropOldest }, got null"],
    [{ dropOldest: 0 }, 'overflow.dropOldest: expected a number of at least 1, got 0'],
  ])('`catchUp` refuses the overflow %j', (overflow, message) => {
    expect(() => catchUp(memoryLog(), null, { overflow } as CatchUpOptions)).toThrow(new TypeError(message));
  });

  it('`catchUp` refuses another start', () => {
    const options = { from: 'beginning' } as unknown as CatchUpOptions;
    expect(() => catchUp(memoryLog(), null, options)).toThrow("from: expected 'end' or 'start', got 'beginning'");
  });
});

describe('memoryLog', () => {
  const received = <T>(log: Log<T>, count: number): Promise<(T | undefined)[]> =>
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
    const open = (since: string | null) => dialer.open$<TopicItem<number>>(opens++ === 0 ? 'stale:1' : since);
    const again = (error: unknown) => (error instanceof CursorLost ? of(0) : throwError(() => error));
    const values$ = isRetried
      ? topic<number>(dialer, open).pipe(retry({ delay: again }))
      : topic<number>(dialer, open, { onLost: () => EMPTY });
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

  it('A topic begins with the snapshot that its answer sends beside a cursor, and goes on behind that cursor', async () => {
    const log = memoryLog<number>();
    await log.publish(1);
    const snapshot = { cursor: await log.publish(2), value: 'one and two' };
    await log.publish(3);
    const { dialer, acceptor } = createPair();
    const answerTo = (since: string | null) =>
      since === null ? concat([snapshot], answerTopic(log, snapshot.cursor)) : answerTopic(log, since);
    acceptor.streams$.pipe(respond(answerTo)).subscribe();
    const values$ = topic(dialer, (since) => dialer.open$<TopicItem<number | string>>(since));
    expect(await firstValueFrom(values$.pipe(take(2), toArray()))).toEqual(['one and two', 3]);
  });

  it('A message between a loss and the snapshot of `onLost` is in the snapshot, and comes again behind it', async () => {
    const log = memoryLog<number>();
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((since: string | null) => answerTopic(log, since))).subscribe();
    const onLost = async () => log.publish(1).then(() => 1);
    let opens = 0;
    const open = (since: string | null) => dialer.open$<TopicItem<number>>(opens++ === 0 ? 'stale:1' : since);
    const values$ = topic<number>(dialer, open, { onLost: () => from(onLost()) });
    expect(await firstValueFrom(values$.pipe(take(2), toArray()))).toEqual([1, 1]);
  });

  it('The only subscriber of a room goes on with `onLost`, also where messages come between its loss and its next stream', async () => {
    const bus = memoryBus();
    const typing = room<number>(bus, 'typing');
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((since: string | null) => answerTopic(typing, since))).subscribe();
    let opens = 0;
    const open = (since: string | null) => dialer.open$<TopicItem<number>>(opens++ === 0 ? 'stale:1' : since);
    const onLost = async () => {
      await typing.publish(1);
      return 0;
    };
    const received = firstValueFrom(topic<number>(dialer, open, { onLost: () => from(onLost()) }).pipe(take(2), toArray()));
    for (let round = 0; round < 4; round++) await dialer.ping();
    await typing.publish(2);
    expect([await received, opens]).toEqual([[0, 2], 2]);
  });

  it('A topic errors with the CursorLost that the Observable of `onLost` emits, as with one that `onLost` throws', async () => {
    const log = memoryLog<number>();
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((since: string | null) => answerTopic(log, since))).subscribe();
    const lost = new CursorLost('elsewhere:1');
    const thrown = (): never => {
      throw lost;
    };
    for (const onLost of [thrown, () => throwError(() => lost)]) {
      let opens = 0;
      const open = () => dialer.open$<TopicItem<number>>(`stale:${opens++}`);
      expect(await firstValueFrom(topic<number>(dialer, open, { onLost })).catch((error: unknown) => error)).toBe(lost);
      expect(opens).toBe(1);
    }
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

/** A log that carries any value, as another program may publish it at a broker. Its cursors are the numbers from 1 on. */
class OpenLog implements Log<unknown, number> {
  readonly kept: Message<unknown, number>[] = [];
  readonly maxItemBytes = 10_000;
  readonly live$ = new Subject<Message<unknown, number>>();

  head(): readonly number[] {
    return [this.kept.length];
  }

  history(after: number | null): readonly Message<unknown, number>[] {
    return this.kept.slice(after ?? 0);
  }

  publish(value: unknown): Promise<number> {
    const message = { cursor: this.kept.length + 1, value };
    this.kept.push(message);
    this.live$.next(message);
    return Promise.resolve(message.cursor);
  }
}

function following(log: Log<unknown, number>, codec: Codec) {
  const { dialer, acceptor } = createPair({ codec });
  acceptor.streams$.pipe(respond((since: number | null) => answerTopic(log, since))).subscribe();
  const asked: (number | null)[] = [];
  return {
    dialer,
    asked,
    items: (since: number | null) => dialer.open$<TopicItem<unknown, number>>(since),
    topic$: topic<unknown, number>(dialer, (since) => {
      asked.push(since);
      return dialer.open$<TopicItem<unknown, number>>(since);
    }),
  };
}

describe('a message that a codec refuses', () => {
  const logs = collectLogs();

  it.each<[string, Codec, unknown]>([
    ['an infinity that JSON has read from 1e400', new JsonCodec(), JSON.parse('[1e400]')],
    ['256 levels', new JsonCodec(), nested(256)],
    ['95 levels', new MsgpackCodec(), nested(95)],
    ['a key __proto__', new MsgpackCodec(), JSON.parse('{"__proto__":1}')],
    ['a text over the bound', new JsonCodec(), 'x'.repeat(10_000)],
    ['a text that is over the bound with its cursor', new MsgpackCodec(), 'x'.repeat(9_990)],
  ])('A topic passes over %s, and warns once for all followers', async (_, codec, value) => {
    const log = new OpenLog();
    const clients = [following(log, codec), following(log, codec)];
    const live = clients.map(({ topic$ }) => firstValueFrom(topic$.pipe(take(2), toArray())));
    await Promise.all(clients.map(({ items }) => firstValueFrom(items(null))));
    await log.publish('before');
    await log.publish(value);
    await log.publish('after');
    expect(await Promise.all(live)).toEqual([
      ['before', 'after'],
      ['before', 'after'],
    ]);
    const late = await firstValueFrom(following(log, codec).items(1).pipe(take(2), toArray()));
    expect(late).toEqual([{ cursor: 2 }, { cursor: 3, value: 'after' }]);
    const text = `rxmux: message 2 of a topic is passed over: its followers under the codec '${codec.name}' cannot receive it`;
    expect(logs.warnings).toEqual([text]);
  });

  it('A topic passes over a message, behind the schema of a contract too', async () => {
    const log = new OpenLog();
    const item: StandardSchemaV1<TopicItem<unknown, number>> = {
      '~standard': { version: 1, vendor: 'spec', validate: (value) => ({ value: { ...(value as TopicItem<unknown, number>) } }) },
    };
    const api = contract({ follow: stream({ payload: plain<number | null>(), item }) });
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(answer(api, { follow: (since) => answerTopic(log, since) })).subscribe();
    for (const value of ['before', 'x'.repeat(10_000), 'after']) await log.publish(value);
    const items = await firstValueFrom(client(dialer, api).follow(0).pipe(take(3), toArray()));
    expect(items).toEqual([{ cursor: 1, value: 'before' }, { cursor: 2 }, { cursor: 3, value: 'after' }]);
    expect(logs.warnings).toEqual([expect.stringContaining('message 2 of a topic is passed over')]);
  });

  it('Two logs that emit the same items each pass over those beyond their own bound', async () => {
    const log = new OpenLog();
    const narrow: Log<unknown, number> = {
      live$: log.live$,
      head: () => log.head(),
      history: (cursor) => log.history(cursor),
      publish: (value) => log.publish(value),
      maxItemBytes: 2_000,
    };
    const clients = [following(log, new JsonCodec()), following(narrow, new JsonCodec())];
    for (const value of ['x'.repeat(5_000), 'after']) await log.publish(value);
    const items = clients.map((follower) => firstValueFrom(follower.items(0).pipe(take(2), toArray())));
    expect((await Promise.all(items)).map(([item]) => Object.keys(Object(item) as object))).toEqual([['cursor', 'value'], ['cursor']]);
  });

  it('A million items, which no follower accepts, are passed over', async () => {
    const log: Log<unknown, number> = {
      live$: NEVER,
      head: () => [0],
      publish: () => Promise.resolve(1),
      history: () => [
        { cursor: 1, value: Array.from({ length: 1_000_000 }, () => 0) },
        { cursor: 2, value: 'after' },
      ],
    };
    const items$ = following(log, new JsonCodec()).items(0);
    expect(await firstValueFrom(items$.pipe(take(2), toArray()))).toEqual([{ cursor: 1 }, { cursor: 2, value: 'after' }]);
  });

  it('A follower that resumes before many of them warns of 100', async () => {
    const log = new OpenLog();
    for (let n = 0; n < 150; n++) await log.publish(Infinity);
    const codec = new JsonCodec();
    const { items } = following(log, codec);
    expect(await firstValueFrom(items(0).pipe(take(150), toArray()))).toHaveLength(150);
    expect(logs.warnings).toHaveLength(100);
  });
});

describe('mistakes', () => {
  const logs = collectLogs();
  /** A log of a program, without a message. */
  const OWN: Log<string> = { live$: NEVER, head: () => ['a'], history: () => [], publish: () => Promise.resolve('a') };

  describe('values of strangers', () => {
    it.each([
      null,
      7,
      'on',
      {},
      { from: 'x' },
      { from: 'x', version: 1, all: 5 },
      { from: 'x', version: 1, all: [[1]] },
      { from: 'x', version: 1, left: 'a' },
    ])('Presence drops %j of another program, and goes on', async (value) => {
      const bus = memoryBus();
      const { acceptor } = createPair();
      const present = presence(bus);
      const joined = present.join('lobby', 'ann', acceptor);
      await bus.send('presence:presence', value);
      expect(logs.warnings).toEqual(["rxmux: a value of the channel 'presence:presence' is no report of presence, and is dropped"]);
      expect(await firstValueFrom(present.members$('lobby'))).toEqual(new Set(['ann']));
      joined.unsubscribe();
    });

    it.each<unknown>([{ toString: 1, valueOf: 1 }, ['k3f:0'], 7, true, '', 'k3f', ':', '__proto__'])(
      'A log calls the cursor %j lost',
      async (since) => {
        for (const log of [memoryLog<string>(), room<string>(memoryBus(), 'typing')])
          await expect(firstValueFrom(catchUp(log, since as string))).rejects.toThrow(CursorLost);
        expect(sequenceOf(since)).toBeNaN();
      },
    );
  });

  describe('a log', () => {
    it.each<[string, unknown, string]>([
      ['a symbol in an array', { tags: ['a', Symbol('b')] }, "codec 'json': expected a value it can carry at value.tags[1], got a symbol"],
      ['95 levels', nested(95), "codec 'json': expected at most 94 levels of nesting in value, got more or a circular structure"],
      ['a key __proto__', JSON.parse('{"__proto__":1}'), "value: expected no key '__proto__', which the codec msgpack refuses, got one"],
      ['a long text', 'ä'.repeat(500), 'value: expected at most 976 bytes of JSON (maxItemBytes, less 1024 for the cursor), got 1002'],
      [
        'a million items',
        Array.from({ length: 1_000_000 }, () => 0),
        'value: expected at most 999990 items, so that followers accept it (maxPayloadItems), got more',
      ],
    ])('A log rejects %s, and says what it expects', async (what, value, message) => {
      const log = memoryLog(what === 'a long text' ? { maxItemBytes: 2_000 } : {});
      await expect(log.publish(value)).rejects.toThrow(new TypeError(message));
    });

    it.each([1_024, NaN, '1', null])('A log refuses the bound %p of an item', (maxItemBytes) => {
      expect(() => memoryLog({ maxItemBytes: maxItemBytes as number })).toThrow('maxItemBytes: expected a number above 1024, got ');
    });

    it.each<[string, Partial<Log<string>>]>([
      ['live messages', { live$: timer(0).pipe(map(() => ({ cursor: '10', value: 'ten' }))) }],
      ['its history', { history: () => of({ cursor: '10', value: 'ten' }) }],
    ])('A subscriber errors where the cursors of %s do not rise by the default order', async (_, parts) => {
      const log: Log<string> = {
        live$: NEVER,
        head: () => ['9'],
        history: () => EMPTY,
        publish: () => Promise.resolve(''),
        ...parts,
      };
      await expect(lastValueFrom(catchUp(log, '9'))).rejects.toThrow(
        new TypeError("log.newer: expected a function, because cursors of several lengths have no order by default: '9', '10'"),
      );
      expect(await firstValueFrom(catchUp({ ...log, newer: (a, b) => Number(a) > Number(b) }, '9'))).toEqual({
        cursor: '10',
        value: 'ten',
      });
    });

    it('A subscriber drops a message that comes twice', async () => {
      const messages = ['a1', 'a1', 'a2'].map((cursor) => ({ cursor, value: cursor }));
      const log: Log<string> = { live$: NEVER, head: () => ['a0'], history: () => messages, publish: () => Promise.resolve('') };
      expect(await lastValueFrom(catchUp(log, 'a0').pipe(take(2), toArray()))).toEqual([messages[0], messages[2]]);
    });
  });

  describe('mistakes that TypeScript finds, in a program without it', () => {
    const bus = memoryBus();
    it.each<[string, () => unknown, string]>([
      ['no bus', () => room(undefined as never, 'typing'), 'room: expected a Bus, got undefined'],
      ['a log in the place of a bus', () => room(memoryLog() as never, 'typing'), 'room: expected a Bus, got an object'],
      ['an empty channel', () => room(bus, ''), "room: expected a text for a channel, got ''"],
      ['no room', () => presence(bus).members$(undefined as never), 'members$: expected a text for a room, got undefined'],
    ])('A room and the members of one refuse %s', (_, make, message) => {
      expect(make).toThrow(new TypeError(message));
    });

    it.each<[unknown, string]>([
      [{ keyy: 'a' }, "options: no 'keyy'; did you mean 'key'?"],
      [{ key: 5 }, 'key: expected a text of one line without spaces at its ends, got 5'],
      [{ key: '' }, "key: expected a text of one line without spaces at its ends, got ''"],
      [null, 'options: expected an object, got null'],
    ])('`publish` rejects for the options %j', async (options, message) => {
      for (const log of [memoryLog<string>(), room<string>(bus, 'typing')])
        await expect(log.publish('hello', options as never)).rejects.toThrow(new TypeError(message));
    });

    it('`catchUp` refuses a log whose `live$` is no Observable', () => {
      expect(() => catchUp({ ...OWN, live$: [] } as never, null)).toThrow(new TypeError('log.live$: expected an Observable, got an array'));
    });

    it.each<[string, object, string]>([
      ['sends bare values', { live$: timer(0).pipe(map(() => 'hello')) }, "log: expected messages, { cursor, value }, got 'hello'"],
      ['keeps bare values', { history: () => [{ value: 1 }] }, 'log: expected messages, { cursor, value }, got an object'],
    ])('A subscriber of a log that %s errors', async (_, parts, message) => {
      const after = 'history' in parts ? 'a' : null;
      await expect(lastValueFrom(catchUp({ ...OWN, ...parts }, after))).rejects.toThrow(new TypeError(message));
    });
  });

  describe('a topic', () => {
    it.each([7, null, 'hello'])('A topic fails at %j, which is no item of a log', async (value) => {
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond(() => of(value))).subscribe();
      const got = typeof value === 'string' ? `'${value}'` : String(value);
      await expect(lastValueFrom(topic(dialer, () => dialer.open$<TopicItem<never, never>>()))).rejects.toThrow(
        new TypeError(`topic: expected items of answerTopic, { cursor, value }, got ${got}`),
      );
    });

    it(
      'A topic pauses before it asks a log again that loses its own places',
      marbles(({ flush }) => {
        let asked = 0;
        const { dialer, acceptor } = createPair();
        acceptor.streams$.pipe(respond(() => throwError(() => new CursorLost(++asked)))).subscribe();
        const following = topic(dialer, () => dialer.open$<TopicItem<never, number>>(), { onLost: () => EMPTY }).subscribe();
        timer(30_000).subscribe(() => {
          following.unsubscribe();
        });
        flush();
        expect(asked).toBeGreaterThan(2);
        expect(asked).toBeLessThan(40);
      }),
    );
  });

  describe('values of this program', () => {
    it('A payload that the codec refuses reaches no connection, and leaves the server running', async () => {
      const bus = memoryBus();
      const users = usersOf(bus);
      const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
      const received: unknown[] = [];
      dialer.onStream((payload) => void received.push(payload));
      users.add('ann', acceptor);
      // JSON carries more levels than the codec, so another program may have sent it.
      await bus.send('user:ann', nested(256));
      await users.toUser('ann').notify('hello');
      await acceptor.ping();
      expect(received).toEqual(['hello']);
      expect(logs.errors).toEqual([expect.stringMatching(/^rxmux: notifying Peer .* failed$/)]);
    });

    it('The log says once that a bus has failed for a user, however often the connection is registered', () => {
      const failing = new Subject<never>();
      const users = usersOf({ on: () => failing, send: () => Promise.resolve() });
      const { acceptor } = createPair();
      users.add('ann', acceptor);
      users.add('ann', acceptor);
      failing.error(new Error('the broker is gone'));
      expect(logs.errors).toEqual([expect.stringMatching(/^rxmux: Peer .* is no longer reached as a user$/)]);
    });

    it('A bus and a room keep the order of values that a receiver of one sends', async () => {
      const bus = memoryBus();
      const heard: string[] = [];
      const typing = room<string>(bus, 'typing');
      const first = catchUp(typing, null).subscribe(({ value }) => {
        if (value === 'a') void typing.publish('b');
      });
      const second = catchUp(typing, null).subscribe(({ value = '' }) => heard.push(value));
      await typing.publish('a');
      expect(heard).toEqual(['', 'a', 'b']);
      first.unsubscribe();
      second.unsubscribe();
    });

    it('A bus drops a channel once it has no listener', async () => {
      const bus = memoryBus();
      const heard: unknown[] = [];
      const values$ = bus.on('news');
      values$.subscribe().unsubscribe();
      const listening = values$.subscribe((value) => heard.push(value));
      const other = bus.on('news').subscribe((value) => heard.push(value));
      await bus.send('news', 1);
      listening.unsubscribe();
      await bus.send('news', 2);
      other.unsubscribe();
      await bus.send('news', 3);
      expect(heard).toEqual([1, 1, 2]);
    });

    it('Items that are asked for without waiting come in order, and end with the iterator', async () => {
      const log = memoryLog<number>();
      const items = catchUp(log, null)[Symbol.asyncIterator]();
      const asked = [items.next(), items.next(), items.next(), items.next()];
      await log.publish(1);
      await log.publish(2);
      await Promise.all(asked.slice(0, 3));
      await items.return?.();
      const results = await Promise.all(asked);
      expect(results.map(({ done, value }) => [done, value?.value])).toEqual([
        [false, undefined],
        [false, 1],
        [false, 2],
        [true, undefined],
      ]);
    });
  });

  describe('arguments', () => {
    const { acceptor } = createPair();
    const users = usersOf(memoryBus());
    const present = presence(memoryBus());

    it.each([
      ['users of no bus', () => usersOf(undefined as unknown as Bus), 'usersOf: expected a Bus, got undefined'],
      ['users of half a bus', () => usersOf({ on: () => undefined } as unknown as Bus), 'usersOf: expected a Bus, got an object'],
      ['a log that is none', () => catchUp({} as never, null), 'log: expected a Log, got an object'],
      ['presence on no bus', () => presence(null as unknown as Bus), 'presence: expected a Bus, got null'],
      ['options that are none', () => presence(memoryBus(), null as never), 'options: expected an object, got null'],
      ['a user without an id', () => users.add(undefined as never, acceptor), 'add: expected a text for the id of a user, got undefined'],
      ['a user with an empty id', () => users.toUser(''), "toUser: expected a text for the id of a user, got ''"],
      ['a user that is no peer', () => users.add('ann', {} as never), 'add: expected a Peer, got an object'],
      ['a room without a name', () => present.join(undefined as never, 'ann', acceptor), 'join: expected a text for a room, got undefined'],
      ['a member without a name', () => present.join('lobby', 7 as never, acceptor), 'join: expected a text for a member, got 7'],
      ['a member that is no peer', () => present.join('lobby', 'ann', 'ann' as never), "join: expected a Peer, got 'ann'"],
    ])('Topics refuse %s', (_, act, says) => {
      expect(act).toThrow(new TypeError(says));
    });
  });
});
