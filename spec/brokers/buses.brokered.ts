import { describe, expect, it } from '@jest/globals';
import { createClient } from 'redis';
import { collectLogs } from '../support/peer/logs.js';
import { until } from '../support/socket/leaks.js';
import { catchUp, room } from '../../src/topics.js';
import type { Bus } from '../../src/topics.js';
import { begin, broker, codeOf, endAfterEach } from './endings.js';
import { KINDS } from './kinds.js';
import { connectNats, nats } from './nats.js';
import { redis } from './redis.js';

const logs = collectLogs();
endAfterEach();

/** The values that a channel hears from now on. */
function hear(bus: Bus, channel: string) {
  const heard: unknown[] = [];
  const subscription = bus.on(channel).subscribe((value) => heard.push(value));
  return { heard, leave: () => subscription.unsubscribe() };
}

describe.each(KINDS)('a bus over $name', (kind) => {
  it('Channels that are left and opened again at once are heard, whatever their names', async () => {
    const { port } = await broker(kind);
    const { bus } = await begin(kind.connect(port));
    const { leave } = hear(bus, 'other');
    const names = ['a', '', '\ud800', '\ud801', '*'.repeat(1_024), '\u20ac'.repeat(341), 'a.b > "c" \\ \n'];
    for (const name of names) {
      const first = hear(bus, name);
      await bus.send(name, 1);
      await until('the first value', () => first.heard.length === 1);
      first.leave();
      const second = hear(bus, name);
      await bus.send(name, 2);
      await until('the second value', () => second.heard.length === 1);
      second.leave();
      expect([first.heard, second.heard]).toEqual([[1], [2]]);
    }
    leave();
  });

  it('A room goes on where its last subscriber and the next one change places', async () => {
    const { port } = await broker(kind);
    const { bus } = await begin(kind.connect(port));
    const { leave } = hear(bus, 'other');
    const typing = room<string>(bus, 'typing');
    for (let nth = 0; nth < 20; nth++) {
      const heard: string[] = [];
      const subscription = catchUp(typing, null).subscribe(({ value }) => value !== undefined && heard.push(value));
      await typing.publish(`value ${nth}`);
      await until('the value', () => heard.length === 1);
      subscription.unsubscribe();
    }
    leave();
  });
});

describe('Redis without a place for one more client', () => {
  it('Followers and channels wait, with the text of Redis in the log, and go on once there is room', async () => {
    const { port } = await broker(redis);
    const connected = await begin(redis.connect(port));
    const { bus } = connected;
    const operator = await begin(createClient({ url: `redis://127.0.0.1:${port}` }).connect());
    await operator.configSet('maxclients', '2');
    const { heard, leave } = hear(bus, 'a');
    const received: unknown[] = [];
    const texts = connected.log<string>('texts');
    const following = catchUp(texts, null).subscribe(({ value }) => received.push(value));
    await bus.send('a', 'unheard');
    await until('two warnings', () => logs.warnings.length === 2);
    expect([...logs.warnings].sort()).toEqual([
      'rxmux: the bus hears nothing for now: Redis takes no more connections: ERR max number of clients reached',
      "rxmux: topic 'texts': Redis takes no more connections: ERR max number of clients reached",
    ]);
    await operator.configSet('maxclients', '100');
    await texts.publish('hello');
    await until('the message', () => received.includes('hello'));
    for (let nth = 0; heard.length === 0; nth++) await bus.send('a', nth);
    leave();
    following.unsubscribe();
  });
});

describe('NATS without a permission to publish', () => {
  it('A bus refuses to send, with a code', async () => {
    const users = '{user: admin, password: a}, {user: reader, password: r, permissions: {publish: {deny: ["rxmux.a"]}}}';
    const { port } = await broker(nats, `authorization { users: [${users}] }`);
    const { bus } = await begin(connectNats(port, { user: 'reader', pass: 'r' }));
    const codes = [await codeOf(bus.send('a', 1)), await codeOf(bus.send('b', 1)), await codeOf(bus.send('a', 1))];
    expect(codes).toEqual(['BROKER_FORBIDDEN', 'fulfilled', 'BROKER_FORBIDDEN']);
  });
});
