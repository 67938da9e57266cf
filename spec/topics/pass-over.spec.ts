import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, NEVER, Subject, take, toArray } from 'rxjs';
import { JsonCodec, respond } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import type { Codec } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { answerTopic, topic } from '../../src/topics.js';
import type { Log, Message, TopicItem } from '../../src/topics.js';
import { collectLogs } from '../support/peer/logs.js';
import { nested } from './contract.js';

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
