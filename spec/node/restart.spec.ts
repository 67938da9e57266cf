import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, timer } from 'rxjs';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { retryWhenSafe } from '../../src/operators/retry-when-safe.js';
import type { Peer } from '../../src/peer/peer.js';

const RESTARTS = 20;
const CLIENTS = 200;

/** A server whose handler takes some ms, and counts how often it ran for each request. */
function start(port: number, runs: Map<string, number>): MuxServer {
  return serve({
    port,
    host: '127.0.0.1',
    handler: async (payload, stream) => {
      const id = String(payload);
      runs.set(id, (runs.get(id) ?? 0) + 1);
      await firstValueFrom(timer(Math.random() * 20));
      await stream.reply(payload);
    },
  });
}

/** One request behind the other for as long as `going`; gives what failed. */
async function ask(peer: Peer, client: number, going: () => boolean, answered: Set<string>): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (let n = 0; going(); n++) {
    const id = `${client}-${n}`;
    await firstValueFrom(peer.request$(id).pipe(retryWhenSafe({ count: 50, delay: 20 }))).then(
      () => answered.add(id),
      (error: unknown) => failures.push(error),
    );
    await firstValueFrom(timer(5));
  }
  return failures;
}

describe('Make before break, safe to retry: a server that is restarted under load', () => {
  it(`loses no request of ${CLIENTS} clients in ${RESTARTS} restarts, and runs every handler exactly once`, async () => {
    const runs = new Map<string, number>();
    const answered = new Set<string>();
    let server = start(0, runs);
    const { port } = (await server.listening) as AddressInfo;
    const clients = Array.from({ length: CLIENTS }, () =>
      connect(`ws://127.0.0.1:${port}`, { reconnect: { minDelayMs: 20, maxDelayMs: 200 } }),
    );
    await Promise.all(clients.map((client) => client.opened));
    let going = true;
    const loops = clients.map((client, nth) => ask(client, nth, () => going, answered));

    for (let restart = 0; restart < RESTARTS; restart++) {
      await firstValueFrom(timer(100));
      await server.close({ drainMs: 400 });
      server = start(port, runs);
      await server.listening;
    }

    going = false;
    const failures = (await Promise.all(loops)).flat();
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
    expect(failures).toEqual([]);
    expect(answered.size).toBeGreaterThan(CLIENTS);
    expect([...answered].filter((id) => runs.get(id) !== 1)).toEqual([]);
    expect(runs.size).toBe(answered.size);
  }, 90_000);
});
