// Workers that share a port. SIGHUP replaces them all while clients call on, as `pm2 reload` does (its signal is SIGINT).
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { api } from './api.ts';
import { login, verify } from './session.ts';

const WORKERS = 2;

async function start(): Promise<Worker> {
  const worker = cluster.fork();
  await once(worker, 'listening');
  return worker;
}

/** Ends workers in good order: their clients move to others. */
function stop(workers: readonly Worker[]): Promise<unknown> {
  for (const worker of workers) worker.process.kill('SIGTERM');
  return Promise.all(workers.map((worker) => once(worker, 'exit')));
}

async function lead(): Promise<void> {
  const startAll = () => Promise.all(Array.from({ length: WORKERS }, start));
  const listening = once(cluster, 'listening');
  let workers = await startAll();
  process.on('SIGHUP', async () => {
    const old = workers;
    workers = await startAll();
    await stop(old);
    console.log('reloaded');
  });
  process.once('SIGTERM', () => void stop(workers));
  const [, { port }] = await listening;
  console.log('listening', port); // only now do both signals have their listeners
}

function work(): void {
  const http = createServer(login);
  const answers = answering(api, { me: (_, { context }) => context.user }, { verify });
  const mux = serve({ server: http, path: '/mux', ...answers });
  http.listen(Number(process.argv[2] ?? 8080), '127.0.0.1');
  process.once('SIGTERM', async () => {
    http.close(); // takes no new connection, while the present ones drain
    await mux.close({ drainMs: 10_000 });
    process.exit();
  });
}

if (cluster.isPrimary) await lead();
else work();
