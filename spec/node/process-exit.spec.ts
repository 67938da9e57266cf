import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connect } from '../../src/node.js';
import type { Ending } from '../support/process/node-child.js';
import { nodePrograms } from '../support/process/node-child.js';
import { portOf } from '../support/socket/handshake.js';
import { until, watchResources } from '../support/socket/leaks.js';
import { emptied, testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

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
