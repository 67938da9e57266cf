import { setTimeout as pause } from 'node:timers/promises';
import { claimed } from '../claim.js';
import { seconds } from '../figures.js';
import type { Scenario } from '../scenario.js';
import { untilSo } from '../world.js';

/** On a busy machine a timer may be this late. */
const LATE_MS = 6_000;
const WITHIN_MS = 45_000;

/** A server that hangs: its sockets stay open, and it neither reads nor answers. */
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
      claimed(`a freeze of ${seconds(shortFreezeMs)} loses no socket`, earlyLosses.length === 0, `${earlyLosses.length} lost`),
      claimed('the calls made meanwhile are answered', answered.length === frozenSockets, `${answered.length} of ${frozenSockets}`),
      claimed(
        `each client notices a freeze of ${seconds(longFreezeMs)} after ${seconds(idleMs + timeoutMs)} of silence, even if it keeps sending`,
        noticed.length === frozenSockets && soonest >= timeoutMs && latest <= idleMs + timeoutMs + LATE_MS,
        `${noticed.length} clients, after ${seconds(soonest)} to ${seconds(latest)}`,
      ),
      claimed(
        'all clients are back and answered after the freeze',
        back <= WITHIN_MS && again.answered.length === frozenSockets,
        seconds(back),
      ),
    ];
  },
};
