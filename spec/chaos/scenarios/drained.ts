import { setTimeout as pause } from 'node:timers/promises';
import { claimed } from '../claim.js';
import { percentile, seconds } from '../figures.js';
import { Proxy } from '../proxy.js';
import type { Scenario } from '../scenario.js';

const DRAIN_MS = 600;
const BETWEEN_MS = 200;

/** A server that restarts in good order, again and again, while all clients keep asking. */
export const drained: Scenario = {
  name: 'drained server',
  async run(world, { drainedClients, restarts }) {
    const server = world.server();
    const port = await server.ask('listen', { port: 0 });
    const proxy = world.add(await Proxy.listen(port));
    const clients = world.clients();
    await clients.ask('dial', { port: proxy.port, count: drainedClients, reconnect: true });
    const loadMs = restarts * (DRAIN_MS + BETWEEN_MS) * 2;
    const load = clients.ask('echoFor', { ms: loadMs, safe: true });
    const begun = performance.now();
    for (let restart = 0; restart < restarts; restart++) {
      await pause(BETWEEN_MS);
      await server.ask('restart', { drainMs: DRAIN_MS });
    }
    const tookMs = performance.now() - begun;
    const { answered, failed, wrong, waitsMs } = await load;
    const runs = await server.ask('runs');
    const ran = Object.values(runs);
    const codes = [...new Set(failed.map(([, code]) => code))].join(', ');
    return [
      claimed(
        `${restarts} restarts fail no request`,
        answered.length >= drainedClients && failed.length === 0 && wrong === 0,
        `${answered.length} answered, ${failed.length} failed ${codes}`,
      ),
      claimed(
        'each request ran once',
        ran.length === answered.length && ran.every((times) => times === 1),
        `${ran.length} ran, in ${seconds(tookMs)} of restarts; waits p50 ${seconds(percentile(waitsMs, 50))}, most ${seconds(percentile(waitsMs, 100))}`,
      ),
    ];
  },
};
