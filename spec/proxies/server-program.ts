// A server of one deploy. Its IPC channel reports the port, and SIGTERM drains it.
import { interval, map } from 'rxjs';
import { serve } from '../../src/node.js';

/** Requests of the clients. */
export type Job = { readonly op: 'run'; readonly id: string } | { readonly op: 'ticks' };

/** Reports of a server: its port, and that it no longer listens there. */
export type Report = { readonly what: 'listens'; readonly port: number } | { readonly what: 'drains' };

const TICK_MS = 10;

const server = serve({
  port: Number(process.argv[2] ?? 0),
  host: '127.0.0.1',
  verify: ({ headers }) => headers.authorization === 'Bearer token',
  handler: (payload, stream) => {
    const job = payload as Job;
    return job.op === 'run' ? stream.reply(process.pid) : stream.sendAll(interval(TICK_MS).pipe(map(() => process.pid)));
  },
});

const report = (what: Report): unknown => process.send?.(what);

void server.listening.then(({ port }) => report({ what: 'listens', port }));

process.once('SIGTERM', () => {
  void server.close({ drainMs: 10_000 }).then(() => process.exit());
  report({ what: 'drains' });
});
process.once('disconnect', () => process.exit());
