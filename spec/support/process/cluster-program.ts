import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { logger } from '../../../src/index.js';
import { serve } from '../../../src/node.js';

const WORKERS = 2;

/** Orders to the workers of a cluster. Only the first worker drains. */
export type Order = { readonly op: 'drain' | 'count' };

/** The report of a worker. */
export type Report =
  | { readonly what: 'listens'; readonly port: number }
  | { readonly what: 'drains' }
  | { readonly what: 'counts'; readonly worker: number; readonly peers: number; readonly refusals: number };

/** Forwards the workers' reports to the test, and the test's orders to the workers. */
function runPrimary(): void {
  const workers = Array.from({ length: WORKERS }, () => cluster.fork());
  for (const worker of workers) worker.on('message', (report: Report) => process.send?.(report));
  process.on('message', ({ op }: Order) => {
    for (const worker of op === 'drain' ? workers.slice(0, 1) : workers) worker.send({ op });
  });
  process.once('disconnect', () => {
    for (const worker of workers) worker.process.kill();
    process.exit();
  });
}

/** A server whose handler answers with its worker's id, and never answers `hold`. */
function runWorker({ id }: Worker): void {
  const server = serve({
    port: 0,
    host: '127.0.0.1',
    listenWhileDraining: process.argv[2] === 'listenWhileDraining',
    handler: (payload, stream) => (payload === 'hold' ? new Promise(() => undefined) : stream.reply(id)),
  });
  // The test counts refusals, so no log shows them.
  logger.level = 'error';
  let refusals = 0;
  server.refusals$.subscribe(() => refusals++);
  const report = (what: Report): unknown => process.send?.(what);
  void server.listening.then(({ port }) => report({ what: 'listens', port }));
  process.on('message', ({ op }: Order) => {
    if (op === 'count') report({ what: 'counts', worker: id, peers: server.peers.size, refusals });
    else {
      void server.close({ drainMs: 60_000 });
      report({ what: 'drains' });
    }
  });
}

const { worker } = cluster;
if (worker === undefined) runPrimary();
else runWorker(worker);
