import { claimed } from '../claim.js';
import { seconds } from '../figures.js';
import type { Scenario } from '../scenario.js';
import { untilSo } from '../world.js';

const WITHIN_MS = 45_000;

/** A server dies without a word, and one comes back at its address. */
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
      claimed('and all are answered', answered.length === sockets, `${answered.length} answers`),
      claimed(
        'every loss is told as 1006 that will be retried',
        truthful === losses.length && truthful >= sockets,
        `${truthful} of ${losses.length}`,
      ),
    ];
  },
};
