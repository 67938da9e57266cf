import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../fuzz/random.js';
import { claimed } from '../claim.js';
import { seconds } from '../figures.js';
import { Proxy } from '../proxy.js';
import type { Fault } from '../proxy.js';
import type { Scenario } from '../scenario.js';
import { untilSo } from '../world.js';

const UPLOAD_BYTES = 1_200_000;
const PIECES = 4;
const KEEPALIVE = { idleMs: 1_000, timeoutMs: 1_000 };
const FAULTS: readonly [Fault, ...Fault[]] = ['reset', 'half-open', 'stall', 'dribble', 'delay'];
const EVERY_MS = 150;
const LASTS_MS = 2_500;
const SETTLES_MS = 30_000;
const SEED = 1;

/** Uploads of many fragments over a network that resets, half-closes, stalls, delays and dribbles. */
export const cutUploads: Scenario = {
  name: 'cut uploads',
  async run(world, { uploaders, uploadMs }) {
    const server = world.server();
    const port = await server.ask('listen', { port: 0, keepalive: KEEPALIVE });
    const proxy = world.add(await Proxy.listen(port));
    const clients = world.clients();
    await clients.ask('dial', { port: proxy.port, count: uploaders, reconnect: true, keepalive: KEEPALIVE });

    let settled = false;
    const load = clients.ask('uploadFor', { ms: uploadMs, bytes: UPLOAD_BYTES, pieces: PIECES }).finally(() => {
      settled = true;
    });
    const random = new Random(SEED);
    const suffered = new Map<Fault, number>();
    const ends = performance.now() + uploadMs;
    while (performance.now() < ends) {
      const { links } = proxy;
      const fault = random.pick(FAULTS);
      void links[random.below(links.length)]?.suffer(fault, LASTS_MS);
      suffered.set(fault, (suffered.get(fault) ?? 0) + 1);
      await pause(EVERY_MS);
    }
    const settledAfter = await untilSo(() => Promise.resolve(settled), SETTLES_MS);
    if (!settled) return [claimed('every call settles', false, `not within ${seconds(SETTLES_MS)}`)];
    const { answered, failed, wrong } = await load;
    const runs = await server.ask('runs');
    const twice = Object.values(runs).filter((times) => times > 1).length;
    const unrun = answered.filter((id) => runs[id] !== 1).length;
    const live = await untilSo(async () => (await server.ask('stats')).live === 0, SETTLES_MS);
    const codes = [...new Set(failed.map(([, code]) => code))].sort();
    return [
      claimed('every call settles', settledAfter < SETTLES_MS, `${answered.length} answered, ${failed.length} failed`),
      claimed(
        'faults of every kind',
        suffered.size === FAULTS.length && failed.length > 0,
        [...suffered].map((pair) => pair.join(' ')).join(', '),
      ),
      claimed('every answer is right', wrong === 0 && answered.length > 0, `${wrong} wrong`),
      claimed('each answered call ran once, and no call ran twice', twice === 0 && unrun === 0, `${twice} twice, ${unrun} not once`),
      claimed(
        'each failure comes from a lost connection or a time-out',
        codes.every((code) => EXPECTED.has(code)),
        codes.join(', '),
      ),
      claimed('no stream is left on the server', live < SETTLES_MS, `none after ${seconds(live)}`),
    ];
  },
};

const EXPECTED = new Set(['CONNECTION_LOST', 'DEADLINE_EXCEEDED', 'REFUSED', 'CANCELLED', 'CONNECT']);
