import { describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { firstValueFrom, lastValueFrom, take, takeWhile, toArray } from 'rxjs';
import { natsLog } from '../../src/nats.js';
import { catchUp, CursorLost } from '../../src/topics.js';
import { until } from '../support/socket/leaks.js';
import { begin, broker, codeOf, endAfterEach } from './endings.js';
import { KINDS } from './kinds.js';
import { addStream, connectNats, nats, STREAM } from './nats.js';
import { connectRedis, redis, sendTo } from './redis.js';

endAfterEach();

async function publishAll(publish: (value: number) => Promise<unknown>, count: number): Promise<void> {
  for (let value = 0; value < count; value++) await publish(value);
}

describe.each(KINDS)('history over $name', (kind) => {
  const MANY = 450;

  it('A subscriber gets the whole history behind its cursor, over several pages', async () => {
    const { port } = await broker(kind);
    await kind.prepare(port);
    const connected = await begin(kind.connect(port));
    const log = connected.log<number>('numbers');
    const { cursor } = await firstValueFrom(catchUp(log, null));
    await publishAll((value) => log.publish(value), MANY);
    const received = await lastValueFrom(catchUp(log, cursor).pipe(take(MANY), toArray()));
    expect(received.map(({ value }) => value)).toEqual(Array.from({ length: MANY }, (_, value) => value));
  });

  it('A subscriber from the start gets every message that is kept, in order, while the log is trimmed', async () => {
    const { port } = await broker(kind);
    await kind.prepare(port, 200);
    const connected = await begin(kind.connect(port, 200));
    const log = connected.log<number>('numbers');
    const empty = lastValueFrom(catchUp(log, null, { from: 'start' }).pipe(take(2), toArray()));
    await publishAll((value) => log.publish(value), MANY);
    expect((await empty).map(({ value }) => value)).toContain(0);
    const publishing = publishAll((value) => log.publish(MANY + value), MANY);
    const read = catchUp(log, null, { from: 'start' }).pipe(takeWhile(({ value }) => value !== 2 * MANY - 1, true));
    const received = (await lastValueFrom(read.pipe(toArray()))).map(({ value }) => value);
    const [first = 0] = received;
    expect(first).toBeLessThanOrEqual(MANY);
    expect(received).toEqual(Array.from({ length: 2 * MANY - first }, (_, nth) => first + nth));
    await publishing;
  });

  it('A cursor whose message was trimmed is lost, and so is a cursor of another log', async () => {
    const { port } = await broker(kind);
    await kind.prepare(port, 10);
    const connected = await begin(kind.connect(port, 10));
    const log = connected.log<number>('numbers');
    const { cursor } = await firstValueFrom(catchUp(log, null));
    await publishAll((value) => log.publish(value), MANY);
    const last = await log.publish(MANY);
    for (const lost of [cursor, `${cursor}9`, 'nonsense', '7:abc', 7 as unknown as string]) {
      const failure = await lastValueFrom(catchUp(log, lost)).catch((error: unknown) => error);
      expect([failure, (failure as CursorLost).resetTo]).toEqual([expect.any(CursorLost), last]);
    }
    expect(await firstValueFrom(catchUp(log, null))).toEqual({ cursor: last });
  });

  it('The same key twice is one message, with one cursor', async () => {
    const { port } = await broker(kind);
    await kind.prepare(port);
    const connected = await begin(kind.connect(port));
    const log = connected.log<string>('texts');
    const received = lastValueFrom(
      catchUp(log, await firstValueFrom(catchUp(log, null)).then(({ cursor }) => cursor)).pipe(take(2), toArray()),
    );
    const first = await log.publish('a', { key: 'one' });
    expect(await log.publish('b', { key: 'one' })).toBe(first);
    const second = await log.publish('c');
    expect(await received).toEqual([
      { cursor: first, value: 'a' },
      { cursor: second, value: 'c' },
    ]);
  });

  it('A publication rejects at once while the broker is down', async () => {
    const started = await broker(kind);
    await kind.prepare(started.port);
    const connected = await begin(kind.connect(started.port));
    const log = connected.log<string>('texts');
    await log.publish('a');
    await started.end();
    expect(await codeOf(log.publish('b'))).toBe('BROKER_AWAY');
    await started.begin();
  });

  it('A closed connection is an error for publishers and subscribers', async () => {
    const { port } = await broker(kind);
    await kind.prepare(port);
    const connected = await kind.connect(port);
    const log = connected.log<string>('texts');
    const ended = codeOf(lastValueFrom(catchUp(log, null)));
    const listened = codeOf(lastValueFrom(connected.bus.on('channel')));
    await firstValueFrom(catchUp(log, null));
    await connected.close();
    const codes = [await codeOf(log.publish('a')), await codeOf(connected.bus.send('channel', 1)), await ended, await listened];
    expect(codes).toEqual(codes.map(() => 'BROKER_CLOSED'));
  });
});

describe('errors of NATS', () => {
  it('A missing stream is an error for subscribers, and so is the end of a stream', async () => {
    const { port } = await broker(nats);
    const connected = await begin(connectNats(port));
    const log = connected.log<number>('numbers');
    expect(await codeOf(lastValueFrom(catchUp(log, null)))).toBe('BROKER_MISSING');
    await addStream(port);
    const ended = codeOf(lastValueFrom(catchUp(log, null)));
    await firstValueFrom(catchUp(log, null));
    await connected.remove();
    expect(await ended).toBe('BROKER_MISSING');
  });

  it.each([
    ['goes on', {}, 1],
    ['is lost where a new stream is limited as a whole', { max_msgs: 1_000 }, 0],
    ['is lost where a message expires before it is delivered', { max_age: 9_000_000_000 }, 0],
  ])('A subscriber whose last message is gone %s', async (does, config, others) => {
    const { port } = await broker(nats);
    await addStream(port, config);
    const connected = await begin(connectNats(port));
    const log = connected.log<number>('numbers');
    const other = connected.log<number>('other');
    const received: unknown[] = [];
    catchUp(log, null).subscribe({
      next: ({ value }) => received.push(value),
      error: (error: unknown) => received.push((error as Error).name),
    });
    await until('a place', () => received.length === 1);
    const place = await log.publish(1);
    await until('the message', () => received.length === 2);
    await connected.deleteMessage(Number.parseInt(place));
    for (let nth = 0; nth <= others; nth++) await other.publish(nth);
    await log.publish(2);
    await until('the next message', () => received.length === 3);
    expect(received).toEqual([undefined, 1, does.startsWith('goes on') ? 2 : 'CursorLost']);
  });

  it('A stream of several subjects that keeps one message of each is refused by name, and one of a single subject is followed', async () => {
    const { port } = await broker(nats);
    await addStream(port, { max_msgs_per_subject: 1 });
    const connected = await begin(connectNats(port));
    const failure: unknown = await lastValueFrom(catchUp(connected.log('numbers'), null)).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'BROKER_FAILED',
      message:
        "topic 'topics.numbers' of stream 'TOPICS': expected a stream that keeps at least 2 messages of each of its subjects (max_msgs_per_subject), got 1",
    });
    await connected.remove();
    await addStream(port, { subjects: ['topics.numbers'], max_msgs_per_subject: 1 });
    const log = connected.log<number>('numbers');
    const received: unknown[] = [];
    const following = catchUp(log, null).subscribe(({ value }) => received.push(value));
    for (const n of [1, 2, 3]) {
      await until('the item before', () => received.length === n);
      await log.publish(n);
    }
    await until('all', () => received.length === 4);
    expect(received).toEqual([undefined, 1, 2, 3]);
    following.unsubscribe();
  });

  it('A cursor of a stream that was made again is lost, also where its message has the same key', async () => {
    const { port } = await broker(nats);
    const connected = await begin(connectNats(port));
    const log = connected.log<string>('texts');
    const publish = async (...texts: readonly string[]): Promise<string[]> => {
      const places: string[] = [];
      for (const text of texts) places.push(await log.publish(text, { key: text }));
      return places;
    };
    await addStream(port);
    const places = await publish('a', 'b', 'c');
    const stored = await firstValueFrom(catchUp(log, null, { from: 'start' }).pipe(take(3), toArray()));
    expect(stored.map(({ cursor }) => cursor)).toEqual(places);
    await connected.remove();
    await addStream(port);
    const renewed = await publish('x', 'b', 'c', 'd');
    for (const place of places) await expect(firstValueFrom(catchUp(log, place))).rejects.toBeInstanceOf(CursorLost);
    expect(await firstValueFrom(catchUp(log, renewed[2]))).toEqual({ cursor: renewed[3], value: 'd' });
  });

  it('A key stays one message as long as its message is kept, and no longer', async () => {
    const { port } = await broker(nats);
    await addStream(port);
    const connected = await begin(connectNats(port));
    const log = connected.log<number>('numbers');
    const first = await log.publish(1, { key: 'one' });
    expect(await log.publish(2, { key: 'one' })).toBe(first);
    await connected.deleteMessage(Number.parseInt(first));
    const second = await log.publish(3, { key: 'one' });
    expect([second === first, await log.publish(4, { key: 'one' })]).toEqual([false, second]);
    await connected.deleteMessage(Number.parseInt(second));
    await log.publish(5, { key: 'one' });
    expect(await firstValueFrom(catchUp(log, null, { from: 'start' }))).toMatchObject({ value: 5 });
  });

  it('A subject of another stream is refused, and nothing is stored there', async () => {
    const { port } = await broker(nats);
    await addStream(port);
    await addStream(port, { name: 'OTHER', subjects: ['other.>'] });
    const nc = await begin(connect({ servers: `127.0.0.1:${port}` }));
    const log = natsLog<string>(nc, { stream: STREAM, subject: 'other.texts' });
    const codes = [
      await codeOf(log.publish('a')),
      await codeOf(log.publish('a', { key: 'one' })),
      await codeOf(lastValueFrom(catchUp(log, null))),
    ];
    expect(codes).toEqual(['BROKER_MISSING', 'BROKER_MISSING', 'BROKER_MISSING']);
    const { state } = await (await jetstreamManager(nc)).streams.info('OTHER');
    expect(state.last_seq).toBe(0);
  });

  it('A message that the stream never takes is refused with a code of its own', async () => {
    const { port } = await broker(nats);
    await addStream(port, { max_msg_size: 10_000 });
    const connected = await begin(connectNats(port));
    const log = connected.log<string>('texts');
    const refused = [await codeOf(log.publish('x'.repeat(10_001))), await codeOf(log.publish('x'.repeat(2_000_000)))];
    await log.publish('a');
    await connected.seal();
    expect([...refused, await codeOf(log.publish('b'))]).toEqual(['BROKER_REFUSED', 'BROKER_REFUSED', 'BROKER_REFUSED']);
    expect(await firstValueFrom(catchUp(log, null, { from: 'start' }))).toMatchObject({ value: 'a' });
  });

  it('A missing permission is an error', async () => {
    const users =
      '{user: admin, password: a}, {user: reader, password: r, permissions: {publish: {deny: ["topics.>", "$JS.API.STREAM.>"]}}}';
    const { port } = await broker(nats, `authorization { users: [${users}] }`);
    await addStream(port, {}, { user: 'admin', pass: 'a' });
    const log = (await begin(connectNats(port, { user: 'reader', pass: 'r' }))).log<string>('texts');
    expect(await codeOf(log.publish('a'))).toBe('BROKER_FORBIDDEN');
    expect(await codeOf(lastValueFrom(catchUp(log, null)))).toBe('BROKER_FORBIDDEN');
  });
});

describe('errors of Redis', () => {
  it('A key that holds no stream is an error', async () => {
    const { port } = await broker(redis);
    await sendTo(port, 'SET', 'numbers', '1');
    const log = (await begin(connectRedis(port))).log<number>('numbers');
    expect([await codeOf(log.publish(1)), await codeOf(lastValueFrom(catchUp(log, null)))]).toEqual(['BROKER_MISSING', 'BROKER_MISSING']);
  });

  it('A removed stream loses the cursors of its subscribers', async () => {
    const { port } = await broker(redis);
    const log = (await begin(connectRedis(port))).log<number>('numbers');
    const ended = lastValueFrom(catchUp(log, null)).catch((error: unknown) => error);
    await firstValueFrom(catchUp(log, null));
    await sendTo(port, 'DEL', 'numbers');
    await log.publish(1);
    expect(await ended).toBeInstanceOf(CursorLost);
  });

  it('A missing permission is an error', async () => {
    const { port } = await broker(redis, 'user default on nopass ~* &* +@all -xadd -eval -xrevrange');
    const log = (await begin(connectRedis(port))).log<string>('texts');
    expect([await codeOf(log.publish('a')), await codeOf(log.publish('a', { key: 'one' }))]).toEqual([
      'BROKER_FORBIDDEN',
      'BROKER_FORBIDDEN',
    ]);
    expect(await codeOf(lastValueFrom(catchUp(log, null)))).toBe('BROKER_FORBIDDEN');
  });
});
