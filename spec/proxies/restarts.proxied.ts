import { afterAll, describe, expect, it } from '@jest/globals';
import { collectLogs } from '../support/peer/logs.js';
import { Balancer } from './balancer.js';
import { Fleet } from './fleet.js';
import { Load } from './load.js';
import { HAPROXY, NGINX, quickChecks } from './products.js';

const CLIENTS = 20;
/** Dials of each client, on average, before the server is back. Delays that double have reached 5 s by then. */
const DIALS = 16;
/** Clients behind a proxy may be back this much later, in ms. Their delays are at most 1 s; delays that double are up to 5 s. */
const MOST_LATER_MS = 2_500;

const logs = collectLogs();
const fleet = new Fleet();

afterAll(() => fleet.stop());

const DEFAULTS: typeof NGINX = { ...NGINX, name: 'nginx with its own max_fails' };

describe.each([NGINX, HAPROXY, DEFAULTS])('one server behind $name', (product) => {
  it('Clients of a server that restarts on its port dial as often as clients without a proxy, and are back as soon', async () => {
    const server = await fleet.start();
    const balancer = await Balancer.start(product, [server.port], (text) =>
      product === DEFAULTS ? text.replace(' max_fails=0', '') : quickChecks(text),
    );
    const loads = await Promise.all([balancer.port, server.port].map((port) => Load.on(port, CLIENTS)));
    const redialed = loads.map((load) => load.redialed());
    await server.drain();
    // A server spreads its goaways, so some clients begin to dial seconds after others.
    await Promise.all(redialed);
    const before = loads.map(({ dials }) => dials);
    await loads[1]?.dialed(DIALS * CLIENTS);
    const [proxied = 0, direct = 0] = loads.map(({ dials }, nth) => dials - (before[nth] ?? 0));

    const successor = await fleet.start(server.port);
    const startedAt = performance.now();
    const [proxiedMs = 0, directMs = 0] = await Promise.all(
      loads.map(async (load) => {
        await load.heardFrom([successor.pid]);
        return performance.now() - startedAt;
      }),
    );
    await Promise.all(loads.map((load) => load.end()));
    await balancer.stop();
    await fleet.ended(server);
    await fleet.end([successor]);
    process.stdout.write(
      `${product.name}, one server: ${proxied} dials, back after ${Math.round(proxiedMs)} ms; ` +
        `without a proxy ${direct} dials, back after ${Math.round(directMs)} ms\n`,
    );
    expect([loads.map(({ failures }) => failures), logs.errors]).toEqual([[[], []], []]);
    expect(proxied).toBeGreaterThan((2 / 3) * direct);
    expect(proxiedMs).toBeLessThan(directMs + MOST_LATER_MS);
  });
});
