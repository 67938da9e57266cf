import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { handshake } from '../support/socket/handshake.js';
import { turn, until } from '../support/socket/leaks.js';

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

  const settle = async (): Promise<void> => {
    for (let n = 0; n < 100; n++) {
      await time?.advance();
      await turn();
    }
  };

  /** Sends the frame, reads the whole answer, and keeps the TCP connection open. */
  async function stranger(): Promise<Socket> {
    const { socket, status } = await handshake(server);
    expect(status).toBe(101);
    sockets.push(socket.on('error', () => undefined));
    socket.write(Buffer.from(bytes));
    await once(socket, 'data');
    return socket;
  }

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
    expect([await statusOfNext(), server.peers.size]).toEqual([503, 1]);
    await time.advance(1_999);
    await settle();
    expect(server.peers.size).toBe(1);
    await time.advance(1);
    await until('the place', () => server.peers.size === 0);
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
});
