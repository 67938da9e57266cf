import { afterAll, describe, expect, it } from '@jest/globals';
import { collectLogs } from '../support/peer/logs.js';
import { Balancer } from './balancer.js';
import { HAPROXY, NGINX, quickChecks } from './products.js';
import { Fleet } from './fleet.js';
import type { Server } from './fleet.js';
import { Load } from './load.js';

const CLIENTS = 50;
/** An undisturbed subscription is silent for some time. A deploy may double that time and add this, in ms. */
const MOST_SILENCE_MS = 250;

const logs = collectLogs();
const fleet = new Fleet();

afterAll(() => fleet.stop());

/** Replaces each server by a new one while clients call. Each new one listens before the old one drains. */
async function roll(balancer: Balancer, old: readonly Server[], load: Load): Promise<readonly Server[]> {
  let servers = old;
  for (const leaving of old) {
    servers = [...servers.filter((server) => server !== leaving), await fleet.start()];
    balancer.reload(servers.map(({ port }) => port));
    const moved = load.heardFrom(servers.map(({ pid }) => pid));
    await fleet.end([leaving]);
    await moved;
  }
  return servers;
}

describe.each([NGINX, HAPROXY])('two servers behind $name', (product) => {
  it('A deploy of new processes fails no call, and no subscription stays silent', async () => {
    const control = await fleet.start();
    const undisturbed = await Load.on(control.port, 1);
    let servers: readonly Server[] = [await fleet.start(), await fleet.start()];
    const balancer = await Balancer.start(
      product,
      servers.map(({ port }) => port),
      quickChecks,
    );
    const load = await Load.on(balancer.port, CLIENTS);
    servers = await roll(balancer, servers, load);
    const { answered, failures, longestSilenceMs } = load;
    await Promise.all([load.end(), undisturbed.end()]);
    await balancer.stop();
    await fleet.end([control, ...servers]);
    process.stdout.write(
      `${product.name}: ${answered} calls, ${failures.length} failed, the longest silence ${Math.round(longestSilenceMs)} ms, ` +
        `without a deploy ${Math.round(undisturbed.longestSilenceMs)} ms\n`,
    );
    expect([failures, undisturbed.failures, logs.errors]).toEqual([[], [], []]);
    expect(longestSilenceMs).toBeLessThan(MOST_SILENCE_MS + 2 * undisturbed.longestSilenceMs);
  });

  it('A restart on the same port fails no call', async () => {
    let servers: readonly Server[] = [await fleet.start(), await fleet.start()];
    const balancer = await Balancer.start(
      product,
      servers.map(({ port }) => port),
      quickChecks,
    );
    const load = await Load.on(balancer.port, CLIENTS);
    for (const leaving of servers) {
      const staying = servers.filter((server) => server !== leaving);
      await leaving.drain();
      servers = [...staying, await fleet.start(leaving.port)];
      await Promise.all([fleet.ended(leaving), load.heardFrom(servers.map(({ pid }) => pid))]);
    }
    const { answered, failures } = load;
    await load.end();
    await balancer.stop();
    await fleet.end(servers);
    process.stdout.write(`${product.name}, in place: ${answered} calls, ${failures.length} failed\n`);
    expect([failures, logs.errors]).toEqual([[], []]);
  });
});
