import cluster from 'node:cluster';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { map, mergeMap, take } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { respond } from '../../../src/index.js';
import { ipcBus, ipcLog } from '../../../src/ipc.js';
import { serve } from '../../../src/node.js';
import { answerTopic, presence } from '../../../src/topics.js';

/** A worker that listens on a port of its own. */
export interface Listening {
  readonly id: number;
  readonly pid: number;
  readonly port: number;
}

/** Calls to a worker. */
export type Call =
  { readonly op: 'follow'; readonly since: string | null } | { readonly op: 'publish'; readonly n: number } | { readonly op: 'members' };

/** With `silent` the primary calls neither ipcLog nor ipcBus. */
const isSilent = process.argv[2] === 'silent';

if (cluster.isWorker) runWorker();
else runPrimary();

function runPrimary(): void {
  if (!isSilent) ipcBus();
  for (let left = isSilent ? 1 : 2; left > 0; left--)
    cluster.fork().on('message', (message: object) => 'port' in message && process.send?.(message));
  process.once('disconnect', () => process.exit());
}

function runWorker(): void {
  const log = ipcLog<number>('numbers');
  const present = presence(ipcBus(), { leaseMs: 600 });
  const answer = (call: Call): ObservableInput<unknown> => {
    if (call.op === 'follow') return answerTopic(log, call.since, { from: 'start' });
    if (call.op === 'publish') return log.publish(call.n, { key: `number ${call.n}` });
    return present.members$('lobby').pipe(
      map((members) => [...members].sort()),
      take(1),
    );
  };
  const http = createServer();
  const id = cluster.worker?.id ?? 0;
  const { peers$ } = serve({ server: http });
  peers$.pipe(mergeMap((peer) => peer.streams$.pipe(respond(answer)))).subscribe();
  peers$.subscribe((peer) => present.join('lobby', `worker ${id}`, peer));
  http.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
    process.send?.({ id, pid: process.pid, port: (http.address() as AddressInfo).port });
  });
}
