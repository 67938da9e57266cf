import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { filter, firstValueFrom, Observable, take, toArray } from 'rxjs';
import { connect } from '../../src/node.js';
import type { Peer } from '../../src/index.js';
import type { Order, Report } from '../support/process/cluster-program.js';
import { collectLogs } from '../support/peer/logs.js';

type Of<What> = Extract<Report, { readonly what: What }>;

const CLIENTS = 20;
const logs = collectLogs();
const directory = mkdtempSync(join(tmpdir(), 'rxmux-cluster-'));
const program = join(directory, 'program.cjs');

let primary: ChildProcess | undefined;
let peers: Peer[] = [];

beforeAll(() => {
  buildSync({
    entryPoints: [join(__dirname, '..', 'support', 'process', 'cluster-program.ts')],
    outfile: program,
    bundle: true,
    external: ['bufferutil', 'utf-8-validate'],
    ignoreAnnotations: true,
    platform: 'node',
    logLevel: 'error',
  });
});

afterEach(async () => {
  await Promise.all(peers.map((peer) => peer.close()));
  primary?.disconnect();
  peers = [];
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** A cluster of two workers, each with a peer that holds a stream. The first worker begins to drain. */
async function draining(policy: string, ...options: readonly string[]) {
  const started = (primary = fork(program, [...options], { env: { ...process.env, NODE_CLUSTER_SCHED_POLICY: policy } }));
  const reports = <What extends Report['what']>(what: What, count: number): Promise<Of<What>[]> => {
    const reports$ = new Observable<Report>((subscriber) => {
      const listener = (report: Report): void => {
        subscriber.next(report);
      };
      started.on('message', listener);
      return () => started.off('message', listener);
    });
    return firstValueFrom(
      reports$.pipe(
        filter((report): report is Of<What> => report.what === what),
        take(count),
        toArray(),
      ),
    );
  };
  const count = async (): Promise<Of<'counts'>[]> => {
    const counted = reports('counts', 2);
    started.send({ op: 'count' } satisfies Order);
    return (await counted).sort((a, b) => a.worker - b.worker);
  };
  const [listens] = await reports('listens', 2);
  const dial = async (): Promise<Peer> => {
    const peer = connect(`ws://127.0.0.1:${String(listens?.port)}`, { reconnect: { maxAttempts: Infinity } });
    peers.push(peer);
    await peer.opened;
    return peer;
  };
  while ((await count()).some((worker) => worker.peers === 0)) (await dial()).open('hold').subscribe({ error: () => undefined });
  const drains = reports('drains', 1);
  started.send({ op: 'drain' } satisfies Order);
  await drains;
  return { dial, count };
}

describe('draining workers', () => {
  it.each(['rr', 'none'])('The other worker accepts every new socket while one drains, with the scheduling policy %s', async (policy) => {
    const { dial, count } = await draining(policy);
    const answers = await Promise.all(Array.from({ length: CLIENTS }, async () => (await dial()).request('who')));
    expect(new Set(answers)).toEqual(new Set([2]));
    expect((await count()).map(({ refusals }) => refusals)).toEqual([0, 0]);
    expect(logs).toEqual({ warnings: [], errors: [] });
  });

  it('A draining worker with listenWhileDraining accepts new sockets and answers 503', async () => {
    const { dial, count } = await draining('rr', 'listenWhileDraining');
    let refusals = 0;
    // The primary distributes sockets in turn, so the draining worker may have to wait for one.
    for (let dialed = 0; dialed < CLIENTS && refusals === 0; dialed++) {
      expect(await (await dial()).request('who')).toBe(2);
      refusals = (await count())[0]?.refusals ?? 0;
    }
    expect(refusals).toBeGreaterThan(0);
  });
});
