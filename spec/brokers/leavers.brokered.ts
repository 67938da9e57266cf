import { describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'redis';
import { firstValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { catchUp } from '../../src/topics.js';
import { freePort } from '../support/socket/ports.js';
import { begin, broker, endAfterEach } from './endings.js';
import { KINDS } from './kinds.js';
import type { Connected, Kind } from './kinds.js';

endAfterEach();

const LEAVERS = 120;

/** Counts the resources of clients at their broker. */
type Count = () => Promise<number>;

/**
 * Starts a broker, and counts at it: connections of Redis; consumers, connections and subscriptions of NATS. No count opens a connection,
 * because the next count could still see it.
 */
async function counted(kind: Kind): Promise<{ readonly port: number; readonly count: Count }> {
  if (kind.name === 'Redis') {
    const { port } = await broker(kind);
    const operator = await begin(createClient({ url: `redis://127.0.0.1:${port}` }).connect());
    return {
      port,
      count: async () => (await operator.sendCommand<string>(['CLIENT', 'LIST'])).trim().split('\n').length,
    };
  }
  const http = await freePort();
  const { port } = await broker(kind, `http: "127.0.0.1:${http}"`);
  const sum = async (page: string, name: string): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${http}/${page}`);
    const count = ((await answer.json()) as Record<string, unknown>)[name];
    if (typeof count !== 'number') throw new TypeError(`${name} of /${page}: expected a number, got ${String(count)}`);
    return count;
  };
  const places = [
    ['jsz', 'consumers'],
    ['varz', 'connections'],
    ['subsz', 'num_subscriptions'],
  ] as const;
  return {
    port,
    count: async () => (await Promise.all(places.map(([page, name]) => sum(page, name)))).reduce((a, b) => a + b),
  };
}

/** Counts until the number stays: a subscriber that has left releases the rest a while later. */
async function settled(count: Count): Promise<number> {
  let seen = await count();
  for (let same = 0; same < 20; same++) {
    await pause(25);
    const next = await count();
    if (next !== seen) same = 0;
    seen = next;
  }
  return seen;
}

/** Counts until the broker has released the rest, and once more when the number stays. */
async function released(count: Count, wanted: number): Promise<number> {
  for (let tries = 0; tries < 200 && (await count()) > wanted; tries++) await pause(25);
  return settled(count);
}

describe.each(KINDS)('subscribers of $name that leave while they are opened', (kind) => {
  it.each<readonly [string, (connected: Connected) => Observable<unknown>]>([
    ['a channel', ({ bus }) => bus.on('a')],
    ['new messages', (connected) => catchUp(connected.log('texts'), null)],
    ['a history', (connected) => catchUp(connected.log('texts'), null, { from: 'start' })],
  ])('Subscribers of %s leave nothing at the broker, at whatever step they leave', async (_, open) => {
    const { port, count } = await counted(kind);
    await kind.prepare(port);
    const connected = await begin(kind.connect(port));
    const texts = connected.log<string>('texts');
    for (const text of ['a', 'b', 'c']) await texts.publish(text);
    // The client of NATS makes subscriptions of its own with the first question.
    await firstValueFrom(catchUp(texts, null));
    const before = await settled(count);
    const leaving = Array.from({ length: LEAVERS }, async (_, nth) => {
      await pause(nth * 2);
      const subscription = open(connected).subscribe();
      await pause(nth % 20);
      subscription.unsubscribe();
    });
    await Promise.all(leaving);
    expect(await released(count, before)).toBe(before);
  });
});
