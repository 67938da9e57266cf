import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { firstValueFrom, skip, Subject } from 'rxjs';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { retryWhenSafe } from '../../src/peer/operators/retry-when-safe.js';
import type { Peer } from '../../src/peer/peer.js';
import { turn } from '../support/socket-leaks.js';

/** The most turns of the event loop that a handler takes. */
const TURNS = 2;

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

/** What all clients have asked for. */
class Load {
  going = true;
  readonly answered = new Set<string>();
  readonly failures: unknown[] = [];
  readonly #answers$ = new Subject<void>();
  readonly #clients: number;

  constructor(clients: number) {
    this.#clients = clients;
  }

  /** One request of a client after another, for as long as it goes on. */
  async ask(peer: Peer, client: number): Promise<void> {
    for (let n = 0; this.going; n++) {
      const id = `${client}-${n}`;
      await firstValueFrom(peer.request$(id).pipe(retryWhenSafe({ count: 50, delay: 20 }))).then(
        () => {
          this.answered.add(id);
          this.#answers$.next();
        },
        (error: unknown) => this.failures.push(error),
      );
      await turn();
    }
  }

  /** Resolves once as many answers have come from here on as there are clients. */
  round(): Promise<void> {
    return firstValueFrom(this.#answers$.pipe(skip(this.#clients - 1)));
  }
}

/** Make before break, and safe to retry: requests go on while their server is restarted. */
export function losesNothing(clientCount: number, restarts: number): void {
  it(`loses no request of ${clientCount} clients in ${restarts} restarts, and runs every handler exactly once`, async () => {
    const runs = new Map<string, number>();
    let server = start(0, runs);
    const { port } = (await server.listening) as AddressInfo;
    const clients = Array.from({ length: clientCount }, () =>
      connect(`ws://127.0.0.1:${port}`, { reconnect: { minDelayMs: 20, maxDelayMs: 200 } }),
    );
    await Promise.all(clients.map((client) => client.opened));
    const load = new Load(clientCount);
    const loops = clients.map((client, nth) => load.ask(client, nth));

    for (let restart = 0; restart < restarts; restart++) {
      await load.round();
      await server.close({ drainMs: 800 });
      server = start(port, runs);
      await server.listening;
    }

    load.going = false;
    await Promise.all(loops);
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
    const { answered, failures } = load;
    expect(failures).toEqual([]);
    expect(answered.size).toBeGreaterThanOrEqual(clientCount * restarts);
    expect([...answered].filter((id) => runs.get(id) !== 1)).toEqual([]);
    expect(runs.size).toBe(answered.size);
  }, 90_000);
}
