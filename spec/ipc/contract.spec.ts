import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { ipcBus, ipcLog } from '../../src/ipc.js';
import { room } from '../../src/topics.js';
import type { Place } from '../support/process/ipc-contract.js';
import { testBuses, testLogs } from '../topics/contract.js';
import type { Topics } from '../topics/contract.js';

/** Reads a log from another thread, and counts the listeners of signals. */
const READER = `
  import { Worker, isMainThread, parentPort } from 'node:worker_threads';
  import { ipcLog } from '../../src/ipc.js';
  const log = ipcLog('read to its end');
  const read = async () => {
    let added = 0, removed = 0;
    const { addEventListener, removeEventListener } = EventTarget.prototype;
    AbortSignal.prototype.addEventListener = function (...args) { added++; return addEventListener.apply(this, args); };
    AbortSignal.prototype.removeEventListener = function (...args) { removed++; return removeEventListener.apply(this, args); };
    const values = [];
    for await (const { value } of log.history(null)) values.push(value);
    parentPort.postMessage({ values, added, left: added - removed });
  };
  if (!isMainThread) void read();
  else void log.publish('one').then(() => new Worker(__filename).on('message', (found) => { if (found.values) { console.log(JSON.stringify(found)); process.exit(); } }));
`;

/** Publishes to a log without a bound, from another thread. */
const PUBLISHER = `
  import { Worker, isMainThread, parentPort } from 'node:worker_threads';
  import { ipcLog } from '../../src/ipc.js';
  const log = ipcLog('endless', { keep: Infinity });
  if (!isMainThread) log.publish('one').then(String, String).then((outcome) => parentPort.postMessage({ outcome }));
  else new Worker(__filename).on('message', (found) => { if (found.outcome) { console.log(found.outcome); process.exit(); } });
`;

/** Sends more values to a thread that is busy than the line to it queues, and one more later. */
const BUSY = `
  import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
  import { ipcBus } from '../../src/ipc.js';
  const bus = ipcBus();
  const end = (outcome) => { console.log(outcome); process.exit(); };
  if (isMainThread) {
    const lock = new Int32Array(new SharedArrayBuffer(4));
    let text = 'early';
    setInterval(() => void bus.send('news', text), 20);
    new Worker(__filename, { workerData: lock }).on('message', async ({ isBusy, outcome }) => {
      if (outcome) end(outcome);
      if (!isBusy) return;
      for (let megabytes = 0; megabytes < 80; megabytes += 4) await bus.send('news', 'x'.repeat(4_000_000));
      text = 'late';
      Atomics.store(lock, 0, 1);
      Atomics.notify(lock, 0);
    });
  } else {
    let isBusy = false;
    const next = (value) => {
      if (value === 'late') parentPort.postMessage({ outcome: value });
      if (isBusy) return;
      isBusy = true;
      parentPort.postMessage({ isBusy });
      Atomics.wait(workerData, 0, 0);
    };
    bus.on('news').subscribe({ next, error: (error) => parentPort.postMessage({ outcome: String(error) }) });
  }
`;

const alone = (): Topics => ({ bus: ipcBus(), log: (topic) => ipcLog(topic), close: () => undefined });

testLogs('one process', alone);
testLogs('a room of one process', () => ({ ...alone(), log: <T>(topic: string) => room<T>(ipcBus(), topic) }), false);
testBuses('one process', alone);

describe('the contract of logs and buses', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rxmux-ipc-'));
  const program = join(directory, 'program.cjs');

  beforeAll(() => {
    const support = join(__dirname, '../support/process');
    buildSync({
      entryPoints: [join(support, 'ipc-contract.ts')],
      bundle: true,
      alias: { '@jest/globals': join(support, 'few-tests.ts') },
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
      ignoreAnnotations: true,
      outfile: program,
    });
  });
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  it.each<Place>(['worker', 'thread', 'thread of a worker'])('All tests of logs and buses pass in a %s', async (place) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, place]);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ passed: expect.any(Number), failures: [] });
    expect((JSON.parse(stdout) as { passed: number }).passed).toBeGreaterThan(80);
  });

  /** Runs a program, and resolves with its output. */
  const run = async (contents: string): Promise<string> => {
    const outfile = join(directory, 'reader.cjs');
    buildSync({ stdin: { contents, resolveDir: __dirname }, bundle: true, platform: 'node', format: 'cjs', outfile });
    return (await promisify(execFile)(process.execPath, [outfile])).stdout;
  };

  it('A thread publishes to a log that keeps all messages', async () => {
    expect(await run(PUBLISHER)).toMatch(/^[a-z0-9]+:1\n$/);
  });

  it('A channel of a thread that was too busy to listen goes on', async () => {
    expect(await run(BUSY)).toBe('late\n');
  });

  it('A thread that has read a log to its end listens to no signal', async () => {
    const stdout = await run(READER);
    expect(JSON.parse(stdout)).toEqual({ values: ['one'], added: expect.any(Number), left: 0 });
    expect((JSON.parse(stdout) as { added: number }).added).toBeGreaterThan(0);
  });
});
