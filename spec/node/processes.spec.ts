import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { filter, firstValueFrom, Observable, take, toArray } from 'rxjs';
import type { Peer } from '../../src/index.js';
import { connect } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import type { Order, Report } from '../support/process/cluster-program.js';
import { nodePrograms } from '../support/process/node-child.js';
import type { Ending } from '../support/process/node-child.js';
import { portOf } from '../support/socket/handshake.js';
import { until, watchResources } from '../support/socket/leaks.js';
import { emptied, testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';
import { losesNothing } from './restarting.js';

describe('draining workers', () => {
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

const run = nodePrograms();

describe('process.exit', () => {
  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;
  let came: unknown[];

  beforeEach(async () => {
    leaks = watchResources();
    came = [];
    server = await testServer({ handler: (payload) => void came.push(payload) });
  });

  afterEach(async () => {
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  const dialing = (program: string): Promise<Ending> =>
    run(`const peer = connect('ws://127.0.0.1:${String(portOf(server.http))}'); await peer.opened; ${program}`);

  it.each<readonly [what: string, program: string, sent: readonly unknown[]]>([
    ['one', `peer.notify('bye'); process.exit();`, ['bye']],
    ['several', `for (const n of [1, 2, 3]) peer.notify(n); process.exit();`, [1, 2, 3]],
    ['one before an uncaught error', `peer.notify('bye'); queueMicrotask(() => { throw new Error('crash'); });`, ['bye']],
  ])('A program that exits in the turn of its messages still sends them: %s', async (_what, program, sent) => {
    const { status } = await dialing(program);
    expect(status).toBe(program.includes('crash') ? 1 : 0);
    await until('the messages', () => came.length >= sent.length);
    expect(came).toEqual(sent);
    await emptied(server.http);
  });

  it('A program that exits sends the messages of every connection', async () => {
    const url = `ws://127.0.0.1:${String(portOf(server.http))}`;
    await run(`
      const peers = [1, 2, 3].map(() => connect('${url}'));
      await Promise.all(peers.map((peer) => peer.opened));
      for (const [nth, peer] of peers.entries()) peer.notify(nth);
      process.exit();
    `);
    await until('the messages', () => came.length >= 3);
    expect(new Set(came)).toEqual(new Set([0, 1, 2]));
    await emptied(server.http);
  });

  it('A program that exits sends the messages of its server', async () => {
    const exited = run(`
      const own = serve({ port: 0, host: '127.0.0.1' });
      own.peers$.subscribe((peer) => { peer.opened.then(() => { peer.notify('bye'); process.exit(); }); });
      const { port } = await own.listening;
      connect('ws://127.0.0.1:${String(portOf(server.http))}').notify(port);
    `);
    await until('the port of the child', () => came.length > 0);
    const told: unknown[] = [];
    const dialer = connect(`ws://127.0.0.1:${String(came[0])}`, { keepalive: false, onStream: (payload) => void told.push(payload) });
    await Promise.all([exited, dialer.closed]);
    expect(told).toEqual(['bye']);
    await emptied(server.http);
  });
});

describe('restarts', () => {
  const logs = collectLogs();

  it.each(['after the drain', 'at once'] as const)('A restart under load loses no request if the next server listens %s', async (next) => {
    await losesNothing({ clients: 20, restarts: 1, drainMs: 1_000, next });
    expect(logs.errors).toEqual([]);
  });
});
