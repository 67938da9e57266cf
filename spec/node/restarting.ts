import { expect } from '@jest/globals';
import { distinct, firstValueFrom, lastValueFrom, pairwise, skip, Subject, timeInterval, timer } from 'rxjs';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import type { Peer } from '../../src/peer/peer.js';
import { turn } from '../support/socket/leaks.js';

/** The most turns of the event loop that a handler takes. */
const TURNS = 2;
/** The pause between two requests of a client. All clients share this process, and a slow machine needs the time to dial. */
const PAUSE_MS = 100;

/** A server whose handler takes some turns, and counts how often it ran for each request. */
function start(port: number, runs: Map<string, number>): MuxServer {
  let calls = 0;
  return serve({
    port,
    host: '127.0.0.1',
    handler: async (payload, stream) => {
      const id = String(payload);
      runs.set(id, (runs.get(id) ?? 0) + 1);
      for (let turns = calls++ % TURNS; turns >= 0; turns--) await turn();
      await stream.reply(payload);
    },
  });
}

/** The requests of all clients. */
class Load {
  going = true;
  readonly answered = new Set<string>();
  readonly failures: unknown[] = [];
  longestWaitMs = 0;
  longestDialMs = 0;
  readonly #answeredBy$ = new Subject<number>();
  readonly #clients: number;

  constructor(clients: number) {
    this.#clients = clients;
  }

  /** Makes the requests of one client in sequence while {@link going} is true. */
  async ask(peer: Peer, client: number): Promise<void> {
    for (let n = 0; this.going; n++) {
      const id = `${client}-${n}`;
      const askedAt = performance.now();
      await peer.request(id, { retry: 'safe' }).then(
        () => this.answered.add(id),
        (error: unknown) => this.failures.push(error),
      );
      this.longestWaitMs = Math.max(this.longestWaitMs, performance.now() - askedAt);
      this.#answeredBy$.next(client);
      await lastValueFrom(timer(PAUSE_MS));
    }
  }

  /** Measures the successful dials of a client. */
  watch(peer: Peer): void {
    peer.status$.pipe(timeInterval(), pairwise()).subscribe(([before, { value, interval }]) => {
      if (before.value.state === 'connecting' && value.state === 'open') this.longestDialMs = Math.max(this.longestDialMs, interval);
    });
  }

  /** Resolves once each client has had an answer from here on. */
  round(): Promise<number> {
    return firstValueFrom(this.#answeredBy$.pipe(distinct(), skip(this.#clients - 1)));
  }
}

/** Settings of the restarts. `drainMs` is the drain of the old server, and `next` says when the next server listens. */
export interface Restarts {
  readonly clients: number;
  readonly restarts: number;
  readonly drainMs: number;
  readonly next: 'after the drain' | 'at once';
}

/** Results of a run. */
export interface Outcome {
  readonly longestWaitMs: number;
  /** The longest time without a server that listens. */
  readonly longestOutageMs: number;
  /** The time of the slowest successful dial. */
  readonly longestDialMs: number;
}

/** Restarts a server on its port under load, with default options. Checks that no request fails, and that each handler runs once. */
export async function losesNothing({ clients: count, restarts, drainMs, next }: Restarts): Promise<Outcome> {
  const runs = new Map<string, number>();
  let server = start(0, runs);
  const { port } = await server.listening;
  const clients = Array.from({ length: count }, () => connect(`ws://127.0.0.1:${port}`, { reconnect: true }));
  const load = new Load(count);
  for (const client of clients) load.watch(client);
  await Promise.all(clients.map((client) => client.opened));
  const loops = clients.map((client, nth) => load.ask(client, nth));

  let longestOutageMs = 0;
  for (let restart = 0; restart < restarts; restart++) {
    await load.round();
    const closedAt = performance.now();
    const closed = server.close({ drainMs });
    if (next === 'after the drain') await closed;
    server = start(port, runs);
    await server.listening;
    longestOutageMs = Math.max(longestOutageMs, performance.now() - closedAt);
    await closed;
  }

  await load.round();
  load.going = false;
  await Promise.all(loops);
  await Promise.all(clients.map((client) => client.close()));
  await server.close();
  const { answered, failures, longestWaitMs, longestDialMs } = load;
  expect(failures).toEqual([]);
  expect(answered.size).toBeGreaterThanOrEqual(count * restarts);
  expect([...answered].filter((id) => runs.get(id) !== 1)).toEqual([]);
  expect(runs.size).toBe(answered.size);
  return { longestWaitMs, longestOutageMs, longestDialMs };
}
