import { claimed } from '../claim.js';
import { mebibytes, percentile, seconds } from '../figures.js';
import { Proxy } from '../proxy.js';
import type { Scenario } from '../scenario.js';
import { untilSo } from '../world.js';

const CHUNK_BYTES = 64 * 1024;
const SLOW_BYTES_PER_SECOND = 100 * 1024;
const OTHER_CLIENTS = 10;
const WARM_MS = 2_000;
/** Bytes that may wait for each reader: in the socket, in the queue of the stream, and the kept chunk. */
const WAITING_BYTES = 1024 * 1024 + 256 * 1024 + CHUNK_BYTES;
/** Bytes that were offered and are garbage. */
const GARBAGE_BYTES = 192 * 1024 * 1024;
const OPENED_WITHIN_MS = 10_000;

/** Readers that take 100 KiB a second or nothing, while the server offers far more. */
export const slowReaders: Scenario = {
  name: 'slow readers',
  async run(world, { offeredBytes, slowReaders, slowMs }) {
    const server = world.server();
    const port = await server.ask('listen', { port: 0 });
    const proxy = world.add(await Proxy.listen(port, (nth) => (nth % 2 === 0 ? SLOW_BYTES_PER_SECOND : Infinity)));
    const others = world.clients();
    await others.ask('dial', { port, count: OTHER_CLIENTS, reconnect: false });
    const [pulling, pushed] = [world.clients(), world.clients()];
    for (const clients of [pulling, pushed]) await clients.ask('dial', { port: proxy.port, count: slowReaders / 2, reconnect: false });
    await others.ask('echoFor', { ms: WARM_MS, safe: false });
    const before = await server.ask('stats');
    const chunks = Math.ceil(offeredBytes / (slowReaders / 2) / CHUNK_BYTES);
    await pulling.ask('read', { op: 'pull', chunkBytes: CHUNK_BYTES, chunks });
    await pushed.ask('read', { op: 'push', chunkBytes: CHUNK_BYTES, chunks, overMs: 0.8 * slowMs });
    await untilSo(async () => (await server.ask('stats')).live === slowReaders, OPENED_WITHIN_MS);
    // Half of each kind of reader stop reading altogether.
    for (const [nth, link] of proxy.links.entries()) if (nth % 2 === 1) void link.suffer('stall', 2 * slowMs);
    const { answered, failed, waitsMs } = await others.ask('echoFor', { ms: slowMs, safe: false });
    const after = await server.ask('stats');
    const most = slowReaders * WAITING_BYTES + GARBAGE_BYTES;
    const growth = after.peakRss - before.rss;
    const offered = after.offeredBytes - before.offeredBytes;
    const p99 = percentile(waitsMs, 99);
    return [
      claimed(`${mebibytes(offeredBytes)} are offered`, offered >= 0.9 * offeredBytes, mebibytes(offered)),
      claimed(
        `the server grows by ${mebibytes(most)} at most`,
        growth <= most,
        `${mebibytes(before.rss)} + ${mebibytes(growth)} for ${slowReaders} readers`,
      ),
      claimed(
        `${OTHER_CLIENTS} other clients are answered meanwhile, again and again`,
        failed.length === 0 && answered.length >= 10 * OTHER_CLIENTS,
        `${answered.length} answers, p99 ${seconds(p99)}`,
      ),
    ];
  },
};
