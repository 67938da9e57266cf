import { setTimeout as pause } from 'node:timers/promises';
import { claimed } from '../claim.js';
import { seconds } from '../figures.js';
import type { Scenario } from '../scenario.js';
import { untilSo } from '../world.js';

/** A busy machine: a timer may come this late. */
const LATE_MS = 6_000;
const WITHIN_MS = 45_000;

/** A server that hangs: its sockets stay open, and nobody reads or answers. */
export const frozen: Scenario = {
  name: 'frozen server',
  async run(world, { frozenSockets, keepalive, shortFreezeMs, longFreezeMs }) {
    const clients = world.clients();
    const server = world.server();
    const port = await server.ask('listen', { port: 0, keepalive });
    await clients.ask('dial', { port, count: frozenSockets, reconnect: true, keepalive });

    server.freeze();
    const during = clients.ask('echo', { ms: 0 });
    await pause(shortFreezeMs);
    server.thaw();
    const { answered } = await during;
    const earlyLosses = await clients.ask('losses');

    const begun = Date.now();
    server.freeze();
    await clients.ask('chatter', { everyMs: keepalive.timeoutMs / 10, ms: longFreezeMs });
    await pause(longFreezeMs);
    const losses = await clients.ask('losses');
    const first = new Map([...losses].reverse().map((loss) => [loss.client, loss]));
    const noticed = [...first.values()].filter(({ code, willRetry }) => code === 1006 && willRetry).map(({ at }) => at - begun);
    const [soonest, latest] = [Math.min(...noticed), Math.max(...noticed)];
    server.thaw();
    const back = await untilSo(async () => (await server.ask('stats')).peers === frozenSockets, WITHIN_MS);
    const again = await clients.ask('echo', { ms: 0 });
    const { idleMs, timeoutMs } = keepalive;
    return [
      claimed(`${seconds(shortFreezeMs)} lose no socket`, earlyLosses.length === 0, `${earlyLosses.length} lost`),
      claimed('and what was asked meanwhile is answered', answered.length === frozenSockets, `${answered.length} of ${frozenSockets}`),
      claimed(
        `of ${seconds(longFreezeMs)} every client knows after ${seconds(idleMs + timeoutMs)} of silence, also those that go on sending`,
        noticed.length === frozenSockets && soonest >= timeoutMs && latest <= idleMs + timeoutMs + LATE_MS,
        `${noticed.length} clients, after ${seconds(soonest)} to ${seconds(latest)}`,
      ),
      claimed('and all are back and answered when it goes on', back <= WITHIN_MS && again.answered.length === frozenSockets, seconds(back)),
    ];
  },
};
