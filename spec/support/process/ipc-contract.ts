import cluster from 'node:cluster';
import { isMainThread, Worker } from 'node:worker_threads';
import { ipcBus, ipcLog } from '../../../src/ipc.js';
import { room } from '../../../src/topics.js';
import { testBuses, testLogs } from '../../topics/contract.js';
import type { Topics } from '../../topics/contract.js';
import { runTests } from './few-tests.js';

/** Where the tests of logs and buses run. The last one is a thread of a worker of a cluster: it asks over two lines. */
export type Place = 'worker' | 'thread' | 'thread of a worker';

const place = process.argv[2];
const bus = ipcBus();
const isLast = cluster.isWorker ? place === 'worker' || !isMainThread : !isMainThread;

if (isLast) void run();
else if (cluster.isPrimary && place !== 'thread') cluster.fork();
else new Worker(__filename, { argv: [place] }).once('exit', () => cluster.worker?.disconnect());

async function run(): Promise<void> {
  const topics = (): Topics => ({ bus, log: (topic) => ipcLog(topic), close: () => undefined });
  testLogs('other processes', topics);
  testLogs('a room of other processes', () => ({ ...topics(), log: <T>(topic: string) => room<T>(bus, topic) }), false);
  testBuses('other processes', topics);
  console.log(JSON.stringify(await runTests()));
  if (isMainThread) cluster.worker?.disconnect();
}
