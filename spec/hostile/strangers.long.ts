import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect as dialTcp } from 'node:net';
import type { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { connect } from '../../src/node.js';
import type { Peer } from '../../src/index.js';
import type { ServerStats } from '../../src/node.js';
import { bundled } from '../support/process/bundled.js';

const MIB = 1024 * 1024;
const HONEST = 1_000;
const HOSTILE = 9_000;
/** Each of them makes the kernel hold megabytes, too. */
const SLOW_READERS = 60;
const DIALS_AT_ONCE = 200;
const CHUNK = 'x'.repeat(60_000);
const CHUNKS = 4;
const TOTAL_LIMITS = {
  maxConnections: HONEST + HOSTILE,
  maxConnectionsPerAddress: 100,
  maxTotalStreams: 40_000,
  maxTotalHeldBytes: 64 * MIB,
  maxTotalUnsentBytes: 16 * MIB,
};
/** Beside the totals, the process needs what its connections take, the message that it decodes, and garbage. */
const HEAP_MIB = 512;
/** V8 frees the buffers of read messages on another thread, so that the first report after the attack may still count them. */
const REPORTS = 20;

const bundle = bundled(`
  import { serve } from './node.js';
  import { logger } from './index.js';
  logger.level = 'silent';
  const handler = (payload, stream) => {
    if (payload === 'ping') return stream.reply('pong');
    for (let nth = 0; payload === 'feed' && nth < 40; nth++) stream.send('x'.repeat(60_000)).catch(() => undefined);
    return stream.closed;
  };
  const server = serve({ port: 0, handler, totalLimits: ${JSON.stringify(TOTAL_LIMITS)}, keepalive: false });
  server.listening.then(({ port }) => process.send({ port }));
  const most = { held: 0, unsent: 0 };
  const look = () => {
    const { bytes } = server.stats();
    most.held = Math.max(most.held, bytes.held);
    most.unsent = Math.max(most.unsent, bytes.unsent);
  };
  setInterval(look, 200);
  process.on('message', () => { look(); global.gc(); const { heapUsed, external } = process.memoryUsage(); process.send({ stats: server.stats(), most, memory: heapUsed + external }); });
  process.on('disconnect', () => process.exit());
`);

interface Report {
  readonly stats: ServerStats;
  readonly most: ServerStats['bytes'];
  readonly memory: number;
}

async function reportOf(child: ChildProcess): Promise<Report> {
  child.send('report');
  const [report] = (await once(child, 'message')) as [Report];
  return report;
}

/** Strangers have many addresses: 100 connections come from each. */
const addressOf = (nth: number): string => `127.0.${1 + Math.floor(nth / 25_000)}.${1 + (Math.floor(nth / 100) % 250)}`;

/** A message of a client, masked with zeros. */
function messageOf(frame: object): Buffer {
  const text = Buffer.from(JSON.stringify(frame));
  const head = text.length < 126 ? [0x81, 0x80 | text.length] : [0x81, 0xfe, text.length >> 8, text.length & 0xff];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), text]);
}

async function upgraded(port: number, nth: number): Promise<{ readonly socket: Socket; readonly status: number }> {
  const socket = dialTcp({ host: '127.0.0.1', port, localAddress: addressOf(nth) });
  socket.on('error', () => undefined);
  const lines = [
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: mux.v1.json',
  ];
  socket.write(`GET / HTTP/1.1\r\n${lines.join('\r\n')}\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return { socket, status: Number(answer.toString('latin1', 9, 12)) };
}

function misbehave(socket: Socket, nth: number): void {
  if (nth < SLOW_READERS) {
    socket.pause();
    socket.write(messageOf({ type: 'open', stream: 1, end: true, payload: 'feed' }));
    return;
  }
  socket.resume();
  for (let stream = 1; stream < 2 * CHUNKS; stream += 2) {
    if (nth % 2 === 0) socket.write(messageOf({ type: 'open', stream, fragment: `"${CHUNK}`, more: true }));
    else {
      socket.write(messageOf({ type: 'open', stream, payload: 'keep' }));
      socket.write(messageOf({ type: 'data', stream, payload: CHUNK }));
    }
  }
}

/** Runs `task` for 0, 1, …, a number of them at once. */
async function each(count: number, task: (nth: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: DIALS_AT_ONCE }, work));
}

it(`A server with a heap of ${HEAP_MIB} MiB keeps its totals under 10 000 connections of which 9 000 misbehave, and answers the others`, async () => {
  const child = fork(bundle, [], {
    execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MIB}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const honest: Peer[] = [];
  await each(HONEST, async (nth) => {
    const agent = Object.assign(new Agent(), {
      createConnection: () => dialTcp({ host: '127.0.0.1', port, localAddress: addressOf(HOSTILE + nth) }),
    });
    honest.push(await connect(`ws://127.0.0.1:${port}`, { agent, keepalive: false }).opened);
  });
  const sockets: Socket[] = [];
  await each(HOSTILE, async (nth) => {
    const { socket, status } = await upgraded(port, nth);
    expect(status).toBe(101);
    sockets.push(socket);
  });
  const idle = await reportOf(child);
  expect(idle.stats.connections.open).toBe(HONEST + HOSTILE);
  expect((await upgraded(port, HONEST + HOSTILE)).status).toBe(503);
  let attacking = true;
  let answers = 0;
  const asking = honest.map(async (peer) => {
    while (attacking) if ((await peer.request('ping', { timeoutMs: 0 })) === 'pong') answers++;
  });
  sockets.forEach(misbehave);
  // The server ends greedy connections, which never drain.
  const written = sockets
    .slice(SLOW_READERS)
    .flatMap((socket) => (socket.writableLength === 0 ? [] : [Promise.race([once(socket, 'drain'), once(socket, 'close')])]));
  await Promise.race([Promise.all(written), once(child, 'exit')]);
  const before = answers;
  while (answers < before + 10 * HONEST && child.exitCode === null) await reportOf(child);
  attacking = false;
  await Promise.all(asking);
  const bound = idle.memory + TOTAL_LIMITS.maxTotalHeldBytes + TOTAL_LIMITS.maxTotalUnsentBytes;
  let report = await reportOf(child);
  for (let nth = 0; nth < REPORTS && report.memory >= bound; nth++) report = await reportOf(child);
  const { stats, most, memory } = report;
  // Greedy connections may have ended, but no honest one has.
  expect(honest.filter(({ status }) => status.state === 'open' && status.reconnects === 0)).toHaveLength(HONEST);
  expect(most.held).toBeGreaterThan(TOTAL_LIMITS.maxTotalHeldBytes / 2);
  expect(most.held).toBeLessThanOrEqual(TOTAL_LIMITS.maxTotalHeldBytes);
  expect(most.unsent).toBeGreaterThan(0);
  expect(most.unsent).toBeLessThanOrEqual(TOTAL_LIMITS.maxTotalUnsentBytes);
  expect(memory).toBeLessThan(bound);
  expect(stats.limits.maxTotalHeldBytes?.used).toBe(stats.bytes.held);
  for (const socket of sockets) socket.destroy();
  let rest = await reportOf(child);
  while (rest.stats.connections.open > HONEST) rest = await reportOf(child);
  expect([rest.stats.bytes, rest.stats.limits.maxTotalHeldBytes?.used, rest.stats.limits.maxTotalStreams?.used]).toEqual([
    { held: 0, unsent: 0 },
    0,
    0,
  ]);
  await Promise.all(honest.map((peer) => peer.close()));
  child.kill('SIGKILL');
}, 300_000);
