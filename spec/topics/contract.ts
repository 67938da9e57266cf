import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, map, take, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { catchUp, CursorLost } from '../../src/topics.js';
import type { Bus, Log } from '../../src/topics.js';

/** The logs and the bus of one kind of broker. */
export interface Topics {
  readonly bus: Bus;
  /** @param topic of letters, digits, dots and colons */
  log<T>(topic: string): Log<T>;
  close(): unknown;
}

/** Returns nested arrays: `levels` of them. */
export function nested(levels: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

function circular(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

const SHARED = { n: 1 };

/** Values that a log or a bus of any kind refuses. */
const REFUSED: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['a function', () => 1],
  ['a symbol in an array', { tags: ['a', Symbol('b')] }],
  ['a bigint', 1n],
  ['NaN', { n: NaN }],
  ['infinity', [Infinity]],
  ['bytes', new Uint8Array(2)],
  ['a Map', new Map([['a', 1]])],
  ['a circular structure', circular()],
  ['257 levels', nested(257)],
];

/** Values that no item of a log can carry to the followers of every codec. */
const REFUSED_BY_LOGS: typeof REFUSED = [
  ['95 levels', nested(95)],
  ['a key __proto__', { list: [JSON.parse('{"__proto__":1}')] }],
  ['a text of 16 MiB', 'x'.repeat(16 * 1024 * 1024)],
  ['a million items', Array.from({ length: 1_000_000 }, () => 0)],
];

/** Values, and how they arrive. */
const CARRIED: readonly (readonly [string, unknown, unknown])[] = [
  ['null', null, null],
  ['an empty text', '', ''],
  ['half a surrogate pair', '\ud800', '\ud800'],
  ['94 levels', nested(94), nested(94)],
  ['a Date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['an object with `toJSON`', { toJSON: () => 1 }, 1],
  ['an object twice', [SHARED, SHARED], [SHARED, SHARED]],
  ['a property that is undefined', { a: undefined, b: 1 }, { b: 1 }],
  ['a text with the name of a key', ['__proto__', ',"__proto__":'], ['__proto__', ',"__proto__":']],
];

function values<T>(items$: Observable<{ readonly value?: T }>, count: number): Promise<T[]> {
  const values$ = items$.pipe(
    filter((item): item is { readonly value: T } => item.value !== undefined),
    map(({ value }) => value),
  );
  return lastValueFrom(values$.pipe(take(count), toArray()));
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

/** The promises of every log, whatever its broker. A room keeps no history and knows no keys. */
export function testLogs(name: string, begin: () => Promise<Topics> | Topics, keeps = true): void {
  describe(`a log of ${name}`, () => {
    let topics: Topics;
    let nth = 0;
    const fresh = <T>(): Log<T> => topics.log<T>(`topic${nth++}`);
    /** Follows a log from now on. */
    const following = async <T>(log: Log<T>, count: number): Promise<{ readonly received: Promise<T[]> }> => {
      let placed = (): void => undefined;
      const isPlaced = new Promise<void>((resolve) => (placed = resolve));
      const received = values(
        catchUp(log, null).pipe(
          map((item) => {
            placed();
            return item;
          }),
        ),
        count,
      );
      await isPlaced;
      return { received };
    };

    beforeAll(async () => {
      topics = await begin();
    });
    afterAll(async () => {
      await topics.close();
    });

    it('A message has the value of its publication, whatever becomes of the object', async () => {
      const log = fresh<{ n: number }>();
      const { received } = await following(log, 3);
      const state = { n: 0 };
      const published: Promise<string>[] = [];
      for (state.n = 1; state.n <= 3; state.n++) published.push(log.publish(state));
      await Promise.all(published);
      expect(await received).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
      if (keeps) expect(await values(catchUp(log, null, { from: 'start' }), 3)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    });

    it('A subscriber that changes a value changes no other reader', async () => {
      if (!keeps) return;
      const log = fresh<{ n: number }>();
      const { received } = await following(log, 1);
      await log.publish({ n: 1 });
      for (const value of await received) value.n = 2;
      for (const value of await values(catchUp(log, null, { from: 'start' }), 1)) value.n = 3;
      expect(await values(catchUp(log, null, { from: 'start' }), 1)).toEqual([{ n: 1 }]);
    });

    it.each([...REFUSED, ...REFUSED_BY_LOGS])('`publish` rejects %s, and the log goes on', async (_, value) => {
      const log = fresh<unknown>();
      const { received } = await following(log, 1);
      expect(await errorOf(log.publish(value))).toBeInstanceOf(TypeError);
      await log.publish('next');
      expect(await received).toEqual(['next']);
    });

    it.each(CARRIED)('A message carries %s', async (_, value, expected) => {
      const log = fresh<unknown>();
      const { received } = await following(log, 1);
      await log.publish(value);
      expect(await received).toEqual([expected]);
    });

    if (!keeps) return;

    it('A subscriber with a place gets each later message', async () => {
      const log = fresh<number>();
      const { cursor } = await firstValueFrom(catchUp(log, null));
      for (const n of [1, 2, 3]) await log.publish(n);
      const rest = await lastValueFrom(catchUp(log, cursor).pipe(take(3), toArray()));
      expect(rest.map(({ value }) => value)).toEqual([1, 2, 3]);
      expect(await values(catchUp(log, rest[1]?.cursor), 1)).toEqual([3]);
    });

    it('A cursor of another log is lost', async () => {
      const [log, other] = [fresh<number>(), fresh<number>()];
      await log.publish(1);
      // A second message: in one millisecond, the first ones of two streams of Redis have one id.
      await other.publish(1);
      expect(await errorOf(lastValueFrom(catchUp(log, await other.publish(2))))).toBeInstanceOf(CursorLost);
    });

    it('The same key of one topic is one message', async () => {
      const log = fresh<number>();
      const { received } = await following(log, 2);
      const place = await log.publish(1, { key: 'one' });
      expect(await log.publish(2, { key: 'one' })).toBe(place);
      expect(await log.publish(3)).not.toBe(place);
      expect(await received).toEqual([1, 3]);
      expect(await values(catchUp(log, place), 1)).toEqual([3]);
    });

    it.each([
      ['the same key', 'chat1', 'one', 'chat2', 'one'],
      ['a name and a key that read alike', 'chat:a', 'b:key:k', 'chat:a:key:b', 'k'],
      ['a name and a key that are divided elsewhere', 'chat3:a', 'b', 'chat3', 'a:b'],
    ])('Two topics with %s have two messages', async (_, first, firstKey, second, secondKey) => {
      const logs = [topics.log<string>(first), topics.log<string>(second)];
      const [one, two] = await Promise.all(logs.map((log) => following(log, 1)));
      // Their places say nothing: two streams of Redis may have the same id.
      await logs[0]?.publish('first', { key: firstKey });
      await logs[1]?.publish('second', { key: secondKey });
      expect([await one?.received, await two?.received]).toEqual([['first'], ['second']]);
    });

    it.each(['rxmux-start-x', 'rxmux-start-', 'start', 'key', 'a b', '*', '>', 'ключ', '%', 'x'.repeat(200)])(
      'A message with the key %j arrives',
      async (key) => {
        const log = fresh<string>();
        const { received } = await following(log, 1);
        const place = await log.publish('a', { key });
        expect(await log.publish('b', { key })).toBe(place);
        expect(await received).toEqual(['a']);
      },
    );
  });
}

/** The promises of every bus, whatever its broker. */
export function testBuses(name: string, begin: () => Promise<Topics> | Topics): void {
  describe(`a bus of ${name}`, () => {
    let topics: Topics;
    let nth = 0;

    beforeAll(async () => {
      topics = await begin();
    });
    afterAll(async () => {
      await topics.close();
    });

    const hearing = (count: number) => {
      const channel = `channel${nth++}`;
      return { channel, heard: lastValueFrom(topics.bus.on<unknown>(channel).pipe(take(count), toArray())) };
    };

    it('A value is as it was when it was sent, and comes in order', async () => {
      const { channel, heard } = hearing(3);
      const state = { n: 0 };
      const sent: Promise<void>[] = [];
      for (state.n = 1; state.n <= 3; state.n++) sent.push(topics.bus.send(channel, state));
      await Promise.all(sent);
      expect(await heard).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    });

    it.each(REFUSED)('`send` rejects %s, and the channel goes on', async (_, value) => {
      const { channel, heard } = hearing(1);
      expect(await errorOf(topics.bus.send(channel, value))).toBeInstanceOf(TypeError);
      await topics.bus.send(channel, 'next');
      expect(await heard).toEqual(['next']);
    });

    it.each(CARRIED)('A bus carries %s', async (_, value, expected) => {
      const { channel, heard } = hearing(1);
      await topics.bus.send(channel, value);
      expect(await heard).toEqual([expected]);
    });
  });
}
