import { claimed } from '../claim.js';
import { mebibytes, percentile, seconds } from '../figures.js';
import type { Scenario } from '../scenario.js';

const PIECE_BYTES = 64 * 1024;
const EVERY_MS = 20;
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;

/** Pages read slowly, and cannot pause their sockets. Each makes small calls on the same connection meanwhile. */
export const pageReaders: Scenario = {
  name: 'page readers',
  async run(world, { pages, pagePieces }) {
    const server = world.server();
    const port = await server.ask('listen', { port: 0 });
    const clients = world.clients();
    await clients.ask('dialPages', { port, count: pages });
    const pulling = { op: 'pull', chunkBytes: PIECE_BYTES, chunks: pagePieces } as const;
    const [read, { answered, failed, waitsMs }] = await Promise.all([
      clients.ask('readSlowly', { job: pulling, everyMs: EVERY_MS }),
      clients.ask('echoFor', { ms: 0.8 * pagePieces * EVERY_MS, safe: false }),
    ]);
    const most = Math.max(...read.map(({ mostUnreadBytes }) => mostUnreadBytes));
    return [
      claimed(
        `${pages} pages read ${mebibytes(pagePieces * PIECE_BYTES)} each`,
        read.every(({ pieces }) => pieces === pagePieces),
        read.map(({ pieces, error }) => error ?? pieces).join(', '),
      ),
      claimed(`each page holds ${mebibytes(MOST_UNREAD_BYTES)} at most`, most <= MOST_UNREAD_BYTES, mebibytes(most)),
      claimed(
        'their small calls are answered meanwhile, again and again',
        failed.length === 0 && answered.length >= 3 * pages,
        `${answered.length} answers, p99 ${seconds(percentile(waitsMs, 99))}`,
      ),
    ];
  },
};
