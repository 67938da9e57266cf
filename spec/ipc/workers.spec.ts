import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { connect } from '../../src/node.js';
import type { Peer } from '../../src/index.js';
import { topic } from '../../src/topics.js';
import type { TopicItem } from '../../src/topics.js';
import { collectLogs } from '../support/peer/logs.js';
import type { Listening } from '../support/process/ipc-servers.js';
import { until } from '../support/socket/leaks.js';

/** A cluster of servers, in processes of its own. */
interface Fleet {
  readonly primary: ChildProcess;
  readonly workers: readonly Listening[];
  readonly stderr: () => string;
}

describe('processes of one machine', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rxmux-ipc-'));
  const program = join(directory, 'program.cjs');
  const ending: (() => unknown)[] = [];

  beforeAll(() => {
    buildSync({
      entryPoints: [join(__dirname, '../support/process/ipc-servers.ts')],
      bundle: true,
      external: ['bufferutil', 'utf-8-validate'],
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
      ignoreAnnotations: true,
      outfile: program,
    });
  });
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });
  // Clients warn of failed dials while no server is there, also while they end.
  collectLogs();
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  const start = async (count: number, ...args: string[]): Promise<Fleet> => {
    const primary = fork(program, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    const workers: Listening[] = [];
    let stderr = '';
    primary.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    primary.on('message', (report: Listening) => workers.push(report));
    ending.push(async () => {
      primary.kill('SIGKILL');
      await until('the end of the workers', () => workers.every(({ pid }) => !isRunning(pid)));
    });
    await until('the workers', () => workers.length === count);
    return { primary, workers: workers.sort((a, b) => a.id - b.id), stderr: () => stderr };
  };

  const dial = (port: () => number): Peer => {
    const peer = connect(() => `ws://127.0.0.1:${port()}`, { reconnect: { minDelayMs: 5, maxDelayMs: 20, maxAttempts: Infinity } });
    ending.push(() => peer.close());
    return peer;
  };

  const follow = (peer: Peer, onLost?: () => readonly number[]): number[] => {
    const received: number[] = [];
    const open = (since: string | null) => peer.open$<TopicItem<number>>({ op: 'follow', since }, { retry: 'safe' });
    const following = topic(peer, open, { onLost }).subscribe((n) => received.push(n));
    ending.push(() => {
      following.unsubscribe();
    });
    return received;
  };

  const publish = async (peer: Peer, from: number, to: number): Promise<void> => {
    for (let n = from; n <= to; n++) await peer.request({ op: 'publish', n }, { retry: 'safe' });
  };

  it('A worker that dies costs no message, and its members are gone', async () => {
    const { workers } = await start(2);
    const [first, second] = workers;
    let isDead = false;
    const doomed = dial(() => (isDead ? portOf(second) : portOf(first)));
    const other = dial(() => portOf(second));
    const [one, two] = [follow(doomed), follow(other)];
    await publish(other, 1, 1);
    await until('the followers', () => one.length > 0 && two.length > 0);
    await members(other, ['worker 1', 'worker 2']);
    await publish(other, 2, 10);
    isDead = true;
    process.kill(first?.pid ?? 0, 'SIGKILL');
    await publish(other, 11, 30);
    await publish(doomed, 31, 40);
    const expected = Array.from({ length: 40 }, (_, n) => n + 1);
    await until('all messages', () => one.length >= 40 && two.length >= 40);
    expect([one, two]).toEqual([expected, expected]);
    await members(other, ['worker 2']);
  });

  it('A primary that restarts has a new log: its clients learn of the loss, and go on', async () => {
    let fleet = await start(2);
    const client = dial(() => portOf(fleet.workers[0]));
    const received = follow(client, () => [-1]);
    await publish(client, 1, 2);
    await until('the messages', () => received.length === 2);
    const { primary, workers } = fleet;
    primary.kill('SIGKILL');
    await until('the end of the workers', () => workers.every(({ pid }) => !isRunning(pid)));
    fleet = await start(2);
    await until('the snapshot', () => received.length === 3);
    await publish(client, 3, 4);
    await until('the next messages', () => received.length === 5);
    expect(received).toEqual([1, 2, -1, 3, 4]);
  });

  it('A primary that does not take part is named by the errors and in the log', async () => {
    const { workers, stderr } = await start(1, 'silent');
    const client = dial(() => portOf(workers[0]));
    await expect(client.request({ op: 'publish', n: 1 })).rejects.toThrow(
      "topic 'numbers': the primary process does not answer: call ipcLog or ipcBus there too, before it makes workers",
    );
    await until('a warning', () => stderr().includes('rxmux: the primary process does not answer: call ipcLog or ipcBus there too'));
  });

  /** Asks for the members until they are as expected. */
  async function members(peer: Peer, expected: readonly string[]): Promise<void> {
    for (let seen: unknown = null; JSON.stringify(seen) !== JSON.stringify(expected);)
      seen = await peer.request({ op: 'members' }, { retry: 'safe' });
  }
});

function portOf(worker: Listening | undefined): number {
  return worker?.port ?? 0;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
