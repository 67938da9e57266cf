import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { BrokerError } from '../../src/topics.js';
import type { Log } from '../../src/topics.js';
import { BrokerProcess } from './broker-process.js';
import { Follower } from './follower.js';
import { KINDS } from './kinds.js';
import type { Kind } from './kinds.js';
import { servers } from './servers.js';
import type { Server } from './servers.js';

const CLIENTS = 500;
const PAUSE_MS = 5;

/** Publishes 0, 1, 2 and so on. */
class Publisher {
  /** All smaller numbers are published. */
  next = 0;
  #isGoing = true;
  readonly #running: Promise<void>;

  constructor(private readonly log: Log<number>) {
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#isGoing = false;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isGoing) {
      if (await this.#publish(this.next)) this.next++;
      await pause(PAUSE_MS);
    }
  }

  /** A number that may be stored already is published again: its key makes it one message. */
  async #publish(value: number): Promise<boolean> {
    try {
      await this.log.publish(value, { key: `number ${value}` });
      return true;
    } catch (error) {
      if (error instanceof BrokerError && error.code === 'BROKER_AWAY') return false;
      throw error;
    }
  }
}

const start = servers();

/** Replaces a server by a new one, which listens before the old one ends. */
async function replace(kind: Kind, brokerPort: number, alive: Server[], signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const [old] = alive.splice(0, 1, await start(kind, brokerPort));
  alive.reverse();
  await old?.end(signal);
}

describe.each(KINDS)('topics over $name', (kind) => {
  it('Each of 500 clients receives every number once and in order, over a drained server, a killed one and a restarted broker', async () => {
    const broker = await BrokerProcess.start(kind.product);
    await kind.prepare(broker.port);
    const alive = [await start(kind, broker.port), await start(kind, broker.port)];
    const connected = await kind.connect(broker.port);
    const clients = Array.from({ length: CLIENTS }, (_, nth) => new Follower(nth, alive));
    await Promise.all(clients.map((client) => client.until(() => client.isPlaced)));
    const publisher = new Publisher(connected.log<number>('numbers'));
    const allHaveMore = async (): Promise<void> => {
      const published = publisher.next + 1;
      await Promise.all(clients.map((client) => client.until(() => client.next > published)));
    };

    await allHaveMore();
    await replace(kind, broker.port, alive, 'SIGTERM');
    await allHaveMore();
    await replace(kind, broker.port, alive, 'SIGKILL');
    await allHaveMore();
    await broker.end();
    await broker.begin();
    await allHaveMore();
    await publisher.end();
    await Promise.all(clients.map((client) => client.until(() => client.next === publisher.next)));

    process.stdout.write(`${kind.name}: ${CLIENTS} clients have received ${publisher.next} numbers each\n`);
    expect(clients.map(({ next, failure }) => [next, failure])).toEqual(clients.map(() => [publisher.next, null]));
    await Promise.all(clients.map((client) => client.end()));
    await connected.close();
    await broker.stop();
  });
});
