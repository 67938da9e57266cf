import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { NEVER, finalize, mergeMap } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { handshake, portOf } from '../support/socket/handshake.js';
import { turn, until } from '../support/socket/leaks.js';
import { closing, listening } from '../support/socket/listening.js';

const MASK = [0, 0, 0, 0];

/** Frames that break RFC 6455. Each ends the WebSocket, and none ends the TCP connection. */
const MALFORMED: readonly (readonly [what: string, bytes: readonly number[]])[] = [
  ['a reserved opcode', [0x83, 0x80, ...MASK]],
  ['a reserved bit', [0xc1, 0x80, ...MASK]],
  ['no mask', [0x81, 0x00]],
  ['a length beyond 2^53', [0x81, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, ...MASK]],
  ['a length over maxMessageBytes', [0x81, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0, ...MASK]],
  ['text that is not UTF-8', [0x81, 0x81, ...MASK, 0xff]],
  ['a continuation of nothing', [0x80, 0x80, ...MASK]],
  ['a fragmented ping', [0x09, 0x80, ...MASK]],
  ['a close without a whole code', [0x88, 0x81, ...MASK, 0x03]],
];

/** Runs everything that is due without time passing. */
async function settled(time: VirtualTime | undefined): Promise<void> {
  for (let n = 0; n < 100; n++) {
    await time?.advance();
    await turn();
  }
}

collectLogs();

describe.each(MALFORMED)('a frame with %s', (_what, bytes) => {
  let server: MuxServer;
  let time: VirtualTime | undefined;
  const sockets: Socket[] = [];

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    time?.restore();
    time = undefined;
    await server.close();
  });

  const settle = (): Promise<void> => settled(time);

  /** Sends the frame, reads the whole answer, and keeps the TCP connection open. */
  async function stranger(): Promise<Socket> {
    const { socket, status } = await handshake(server);
    expect(status).toBe(101);
    sockets.push(socket.on('error', () => undefined));
    socket.write(Buffer.from(bytes));
    await once(socket, 'data');
    return socket;
  }

  const used = (): number => server.stats().limits.maxConnections?.used ?? NaN;

  async function statusOfNext(): Promise<number> {
    const { socket, status } = await handshake(server);
    sockets.push(socket);
    return status;
  }

  it('A stranger whose frame ended the WebSocket keeps his place until his socket is destroyed, 2 s later', async () => {
    server = serve({ port: 0, host: '127.0.0.1', keepalive: false, totalLimits: { maxConnections: 1 } });
    await server.listening;
    time = virtualTime();
    const socket = await stranger();
    await settle();
    expect(await statusOfNext()).toBe(503);
    await time.advance(1_999);
    await settle();
    expect([await statusOfNext(), used()]).toEqual([503, 1]);
    await time.advance(1);
    await until('the place', () => used() === 0);
    expect(await statusOfNext()).toBe(101);
    await until('the reset of a destroyed socket', () => socket.destroyed || !socket.write('x'));
  });

  it('`server.close()` destroys the socket of such a stranger after 2 s', async () => {
    server = serve({ port: 0, host: '127.0.0.1', keepalive: false });
    await server.listening;
    time = virtualTime();
    await stranger();
    let isClosed = false;
    void server.close().then(() => (isClosed = true));
    await settle();
    expect(isClosed).toBe(false);
    await time.advance(2_000);
    await settle();
    expect(isClosed).toBe(true);
  });

  it('The handlers of such a stranger end at the failure, while he still has his place', async () => {
    server = serve({ port: 0, host: '127.0.0.1', keepalive: false, totalLimits: { maxConnections: 1 } });
    await server.listening;
    let begun = 0;
    let ended = 0;
    const answer = (): Observable<never> => {
      begun++;
      return NEVER.pipe(finalize(() => ended++));
    };
    server.peers$.pipe(mergeMap(({ streams$ }) => streams$.pipe(respond(answer)))).subscribe();
    time = virtualTime();
    const { socket } = await handshake(server);
    sockets.push(socket.on('error', () => undefined));
    socket.write(text('{"type":"open","stream":1,"payload":1}'));
    await until('the call', () => begun === 1);
    expect([ended, used()]).toEqual([0, 1]);
    socket.write(Buffer.from(bytes));
    await once(socket, 'data');
    await settle();
    expect([ended, server.peers.size, used()]).toEqual([1, 0, 1]);
    await time.advance(2_000);
    await until('the place', () => used() === 0);
  });
});

/** One frame of masked text. */
function text(content: string): Buffer {
  return Buffer.from([0x81, 0x80 + content.length, ...MASK, ...Buffer.from(content)]);
}

it('The calls of a dialer fail at a malformed frame, while its socket is still open', async () => {
  let closed = 0;
  let answered = 0;
  let write = (bytes: readonly number[]): unknown => bytes;
  const http = await listening(createServer());
  http.on('upgrade', (request, socket) => {
    const key = String(request.headers['sec-websocket-key']);
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
    socket.on('error', () => undefined).on('close', () => closed++);
    socket.write([...head, 'Sec-WebSocket-Protocol: mux.v1.json', '', ''].join('\r\n'));
    write = (bytes) => socket.write(Buffer.from(bytes));
    socket.once('data', () => answered++).resume();
  });
  const peer = connect(`ws://127.0.0.1:${portOf(http)}`, { reconnect: false, keepalive: false });
  await peer.opened;
  const time = virtualTime();
  let failed = 0;
  for (const payload of [1, 2]) peer.request(payload).catch(() => failed++);
  await until('the calls', () => answered === 1);
  write([0x83, 0x00]);
  await until('the failures', () => failed === 2);
  await settled(time);
  expect(closed).toBe(0);
  await time.advance(2_000);
  // A destroyed socket resets the connection at the next byte.
  await until('the destroyed socket', () => {
    write([0]);
    return closed === 1;
  });
  time.restore();
  await closing(http);
});
