import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { filter, firstValueFrom, Subject } from 'rxjs';
import type { Peer } from 'rxmux';
import { client } from 'rxmux/contract';
import type { Client } from 'rxmux/contract';
import { connect } from 'rxmux/node';
import { measured } from './served.js';

const PROGRAM = fileURLToPath(new URL('./scale.js', import.meta.url));
/** Connections before those that are measured, so that compiled code is not counted. */
const FIRST = 100;
const DIALS_AT_ONCE = 50;
const REQUEST_ROUNDS = 10;
const MESSAGES = 20;
const MESSAGE = 'x'.repeat(100);
const SELDOM_MS = 600_000;
const OFTEN_MS = 1_000;
const KEEPALIVE_MS = 4_000;

type Calls = Client<typeof measured>;

/** One client process and one server process. */
class Measurement {
  readonly #peers: Peer[] = [];
  readonly #url: string;
  readonly order: Calls;
  readonly #arrivals$ = new Subject<number>();
  #following = 0;
  #received = 0;

  constructor(port: number) {
    this.#url = `ws://127.0.0.1:${port}`;
    this.order = client(connect(this.#url), measured);
  }

  /** Opens connections that make one request each. */
  async open(count: number): Promise<void> {
    for (let left = count; left > 0; left -= DIALS_AT_ONCE) {
      const peers = Array.from({ length: Math.min(left, DIALS_AT_ONCE) }, () => connect(this.#url, { keepalive: false }));
      await Promise.all(peers.map((peer) => client(peer, measured).now.promise()));
      this.#peers.push(...peers);
    }
  }

  /** Makes one request on each connection, in several rounds. */
  async ask(rounds: number): Promise<void> {
    const calls = this.#peers.map((peer) => client(peer, measured));
    for (let round = 0; round < rounds; round++) await Promise.all(calls.map(({ now }) => now.promise()));
  }

  /** Follows the topic on each connection that does not follow it yet. The end of the server ends them all. */
  async follow(): Promise<void> {
    const fresh = this.#peers.slice(this.#following);
    this.#following = this.#peers.length;
    for (const peer of fresh) {
      client(peer, measured)
        .follow()
        .subscribe({ next: () => this.#arrivals$.next(++this.#received), error: () => undefined });
    }
    await this.#receives(fresh.length);
  }

  /** Publishes messages, each once all connections have received the one before. */
  async publish(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth++) await Promise.all([this.#receives(this.#peers.length), this.order.publish.promise(MESSAGE)]);
  }

  /** Returns the server's CPU for an act, in µs. */
  async cpuOf(act: () => Promise<unknown>): Promise<number> {
    const before = await this.order.cpu.promise();
    await act();
    return (await this.order.cpu.promise()) - before;
  }

  async #receives(count: number): Promise<void> {
    const last = this.#received + count;
    await firstValueFrom(this.#arrivals$.pipe(filter((received) => received >= last)));
  }
}

async function beside<T>(idleMs: number, use: (measurement: Measurement) => Promise<T>): Promise<T> {
  const server = fork(PROGRAM, [String(idleMs)], { execArgv: ['--expose-gc'] });
  const [port] = (await once(server, 'message')) as [number];
  try {
    return await use(new Measurement(port));
  } finally {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
}

export function measureConnections(count: number): Promise<Record<string, number>> {
  return beside(SELDOM_MS, async (measurement) => {
    const { order } = measurement;
    await measurement.open(FIRST);
    await measurement.follow();
    await measurement.publish(MESSAGES);
    const before = await order.memory.promise();
    const dialsUs = await measurement.cpuOf(() => measurement.open(count));
    const open = await order.memory.promise();
    const all = count + FIRST;
    const requestsUs = await measurement.cpuOf(() => measurement.ask(REQUEST_ROUNDS));
    const held = await order.memory.promise();
    const followsUs = await measurement.cpuOf(() => measurement.follow());
    const following = await order.memory.promise();
    const deliveriesUs = await measurement.cpuOf(() => measurement.publish(MESSAGES));
    return {
      connectionHeapBytes: (open.heap - before.heap) / count,
      connectionRssBytes: (open.rss - before.rss) / count,
      dialUs: dialsUs / count,
      requestUs: requestsUs / (all * REQUEST_ROUNDS),
      followHeapBytes: (following.heap - held.heap) / count,
      followUs: followsUs / count,
      deliveryUs: deliveriesUs / (all * MESSAGES),
    };
  });
}

export function measureKeepalive(count: number): Promise<Record<string, number>> {
  return beside(OFTEN_MS, async (measurement) => {
    await measurement.open(count);
    const before = await measurement.order.framesSent.promise();
    const us = await measurement.cpuOf(() => sleep(KEEPALIVE_MS));
    const probes = (await measurement.order.framesSent.promise()) - before;
    return { probeUs: us / probes };
  });
}

export function measurePresence(members: number): Promise<Record<string, number>> {
  return beside(SELDOM_MS, async ({ order }) => ({ ...(await order.presence.promise(members)) }));
}
