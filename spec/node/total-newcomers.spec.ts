import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect as dialTcp } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { connect, serve } from '../../src/node.js';
import type { MuxServer, ServeOptions, TotalLimits } from '../../src/node.js';
import type { Peer } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until } from '../support/socket/leaks.js';

const MIB = 1024 * 1024;
const CHUNK = 'x'.repeat(60_000);

const ended: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

const logs = collectLogs();

let server: MuxServer;

async function serving(totalLimits: Partial<TotalLimits>, handler: ServeOptions['handler']): Promise<string> {
  server = serve({ port: 0, host: '127.0.0.1', handler, totalLimits });
  ended.push(() => server.close());
  const address = await server.listening;
  return `ws://127.0.0.1:${typeof address === 'object' ? address.port : ''}`;
}

/** An agent that dials from an address of its own. */
function agentOf(localAddress: string): Agent {
  return Object.assign(new Agent(), {
    createConnection: ({ port }: { readonly port: number }) => dialTcp({ host: '127.0.0.1', port, localAddress }),
  });
}

function newcomer(url: string, address = '127.0.0.1'): Peer {
  const peer = connect(url, { agent: agentOf(address) });
  ended.unshift(() => peer.close());
  return peer;
}

/** A connection whose frames the test writes. */
async function greedy(url: string, address = '127.0.0.2'): Promise<WebSocket> {
  const socket = new WebSocket(url, 'mux.v1.json', { agent: agentOf(address) });
  ended.unshift(() => {
    socket.terminate();
  });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

const frameOf = (frame: object): string => JSON.stringify(frame);

describe.each([
  ['another address', '127.0.0.1'],
  ['the same address', '127.0.0.2'],
])('three connections of one address, and new clients of %s', (_what, address) => {
  it('New clients are served while the three hold 23 MB of unfinished opens, of 32 MiB', async () => {
    const url = await serving({ maxTotalHeldBytes: 32 * MIB }, (_payload, stream) => stream.reply('served'));
    const three = await Promise.all([greedy(url), greedy(url), greedy(url)]);
    const perConnection = Math.ceil(23_000_000 / CHUNK.length / 3);
    for (const socket of three)
      for (let nth = 0; nth < perConnection; nth++)
        socket.send(frameOf({ type: 'open', stream: 1 + 2 * (nth % 10), fragment: nth < 10 ? `"${CHUNK}` : CHUNK, more: true }));
    await until('five eighths', () => server.stats().bytes.held > (5 / 8) * 32 * MIB);
    for (let nth = 0; nth < 5; nth++) {
      const peer = newcomer(url, address);
      await peer.opened;
      expect(await peer.request('x')).toBe('served');
      for (const socket of three) socket.send(frameOf({ type: 'open', stream: 1, fragment: 'y', more: true }));
    }
    expect(server.stats().refusals).toEqual({});
  });

  it('New clients are served while the three do not read 3 answers of 1 MB each, of 12 MiB', async () => {
    const answer = 'x'.repeat(1_000_000);
    const url = await serving({ maxTotalUnsentBytes: 12 * MIB }, (payload, stream) =>
      stream.reply(payload === 'big' ? answer : CHUNK).catch(() => undefined),
    );
    const three = await Promise.all([greedy(url), greedy(url), greedy(url)]);
    for (const socket of three) socket.pause();
    const unsent = (): number => server.stats().bytes.unsent;
    // The kernel takes some megabytes of each.
    for (let [stream, before] = [1, 0]; before < (5 / 8) * 12 * MIB || unsent() < before; before = unsent())
      for (let nth = 0; nth < 100; nth++) {
        if (nth === 0) for (const socket of three) socket.send(frameOf({ type: 'open', stream: (stream += 2), end: true, payload: 'big' }));
        await turn();
      }
    for (let nth = 0; nth < 5; nth++) {
      const peer = newcomer(url, address);
      await peer.opened;
      expect(await peer.request('small')).toBe(CHUNK);
    }
    expect(server.stats().refusals).toEqual({});
  });

  it('New clients that need room end the three, with ENHANCE_YOUR_CALM, and end no other client', async () => {
    const url = await serving({ maxTotalHeldBytes: 8 * MIB }, (_payload, stream) => stream.closed);
    const three = await Promise.all([greedy(url), greedy(url), greedy(url)]);
    const reasons: string[] = [];
    for (const socket of three) {
      socket.on('message', (data: Buffer) => {
        const { type, code, reason } = JSON.parse(data.toString()) as Record<string, unknown>;
        if (type === 'goaway') reasons.push(`${String(code)} ${String(reason)}`);
      });
      for (let nth = 0; nth < 30; nth++) socket.send(frameOf({ type: 'open', stream: 1 + 2 * nth, fragment: `"${CHUNK}`, more: true }));
    }
    await until('five eighths', () => server.stats().bytes.held > 5 * MIB);
    const peers = Array.from({ length: 20 }, () => newcomer(url, address));
    await Promise.all(peers.map((peer) => peer.opened));
    const upload = async (peer: Peer): Promise<void> => {
      for (;;) {
        const stream = peer.open('keep', { end: false });
        for (let nth = 0; nth < 2; nth++) stream.send(CHUNK).catch(() => undefined);
        const refused = await Promise.race([stream.closed.then(() => true), peer.ping().then(() => false)]);
        if (!refused) return;
      }
    };
    await Promise.all(peers.map(upload));
    expect([...new Set(reasons)]).toEqual(['11 this connection has far more than its part of 8388608 bytes (maxTotalHeldBytes)']);
    expect(peers.map(({ status }) => status.state)).toEqual(peers.map(() => 'open'));
    expect(server.stats().bytes.held).toBeLessThanOrEqual(8 * MIB);
    expect(logs.warnings).toContainEqual(
      expect.stringMatching(/^rxmux: peer \d+ \(127\.0\.0\.2:\d+\) is ended: this connection has far more than its part of 8388608 bytes/),
    );
  });
});

describe('one connection with all places of maxTotalStreams', () => {
  it.each([20, 48])('Each of 12 others has one call answered, with %d connections in all', async (connections) => {
    const url = await serving({ maxTotalStreams: 16 }, async (payload, stream) => {
      if (payload === 'keep') {
        await stream.closed;
        return;
      }
      for (let nth = 0; nth < 10; nth++) await turn();
      await stream.reply('served');
    });
    const first = await greedy(url);
    for (let nth = 0; nth < 30; nth++) first.send(frameOf({ type: 'open', stream: 1 + 2 * nth, payload: 'keep' }));
    await until('twelve streams', () => server.stats().limits.maxTotalStreams?.used === 12);
    const peers = Array.from({ length: connections - 1 }, () => newcomer(url));
    await Promise.all(peers.map((peer) => peer.opened));
    const answers = await Promise.all(peers.slice(0, 12).map((peer) => peer.request('x').catch(String)));
    expect(answers).toEqual(answers.map(() => 'served'));
    for (const peer of peers) expect(await peer.request('again')).toBe('served');
  });
});
