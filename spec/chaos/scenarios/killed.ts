import { claimed } from '../claim.js';
import { seconds } from '../figures.js';
import type { Scenario } from '../scenario.js';
import { untilSo } from '../world.js';

const WITHIN_MS = 45_000;

/** A server is killed, and another starts at its address. */
export const killed: Scenario = {
  name: 'killed server',
  async run(world, { sockets }) {
    const clients = world.clients();
    const first = world.server();
    const port = await first.ask('listen', { port: 0 });
    await clients.ask('dial', { port, count: sockets, reconnect: true });
    await first.kill();
    const second = world.server();
    await second.ask('listen', { port });
    const back = await untilSo(async () => (await second.ask('stats')).peers === sockets, WITHIN_MS);
    const { answered } = await clients.ask('echo', { ms: 0 });
    const losses = await clients.ask('losses');
    const truthful = losses.filter(({ code, willRetry }) => code === 1006 && willRetry).length;
    return [
      claimed(`all ${sockets} sockets are back within ${seconds(WITHIN_MS)}`, back <= WITHIN_MS, seconds(back)),
      claimed('all clients are answered', answered.length === sockets, `${answered.length} answers`),
      claimed(
        'each loss is reported as 1006 with a retry',
        truthful === losses.length && truthful >= sockets,
        `${truthful} of ${losses.length}`,
      ),
    ];
  },
};
