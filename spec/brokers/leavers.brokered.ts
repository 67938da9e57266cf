import { describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { setTimeout as pause } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { catchUp } from '../../src/topics.js';
import { freePort } from '../support/socket/ports.js';
import { begin, broker, endAfterEach } from './endings.js';
import { KINDS } from './kinds.js';
import type { Connected, Kind } from './kinds.js';
import { STREAM } from './nats.js';
import { sendTo } from './redis.js';

endAfterEach();

const LEAVERS = 120;

/** Counts the resources of clients at their broker. */
type Count = () => Promise<number>;

/** Starts a broker, and counts at it: connections of Redis; consumers, connections and subscriptions of NATS. */
async function counted(kind: Kind): Promise<{ readonly port: number; readonly count: Count }> {
  if (kind.name === 'Redis') {
    const { port } = await broker(kind);
    return {
      port,
      count: async () =>
        String(await sendTo(port, 'CLIENT', 'LIST'))
          .trim()
          .split('\n').length,
    };
  }
  const http = await freePort();
  const { port } = await broker(kind, `http: "127.0.0.1:${http}"`);
  const sum = async (page: string, name: string): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${http}/${page}`);
    return Number(((await answer.json()) as Record<string, unknown>)[name]);
  };
  const consumers = async (): Promise<number> => {
    const nc = await connect({ servers: `127.0.0.1:${port}` });
    const { state } = await (await jetstreamManager(nc)).streams.info(STREAM);
    await nc.close();
    return state.consumer_count;
  };
  return { port, count: async () => (await consumers()) + (await sum('varz', 'connections')) + (await sum('subsz', 'num_subscriptions')) };
}

/** Counts until the broker has released the rest, as it reports a while later. */
async function settled(count: Count, wanted: number): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    if ((await count()) <= wanted) break;
    await pause(25);
  }
  return count();
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
    const before = await count();
    const leaving = Array.from({ length: LEAVERS }, async (_, nth) => {
      await pause(nth * 2);
      const subscription = open(connected).subscribe();
      await pause(nth % 20);
      subscription.unsubscribe();
    });
    await Promise.all(leaving);
    expect(await settled(count, before)).toBe(before);
  });
});
