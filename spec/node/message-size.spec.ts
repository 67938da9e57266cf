import { describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { connect, handleUpgrade } from '../../src/node.js';
import { answerOn, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import type { Peer } from '../../src/index.js';

const MAX = 65_536;
const http = httpServer();

/** The header alone of a text message of `bytes`. A client masks its messages, here with zeros. */
function announced(bytes: number, masked: boolean): Buffer {
  const header = Buffer.alloc(masked ? 14 : 10);
  header.writeUInt8(0x81, 0);
  header.writeUInt8(masked ? 0xff : 0x7f, 1);
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return header;
}

describe('maxMessageBytes', () => {
  it('A server closes the connection at the header of a message over maxMessageBytes', async () => {
    const next = new Promise<Peer>((resolve) => {
      http.now.once('upgrade', (...upgrade) => {
        resolve(handleUpgrade(...upgrade, { keepalive: false, limits: { maxMessageBytes: MAX } }));
      });
    });
    const dialer = await rawSocket(http.now);
    dialer.write(requestOf());
    expect((await answerOn(dialer)).status).toBe(101);
    const peer = await next;
    dialer.write(announced(MAX + 1, true));
    dialer.on('end', () => dialer.end());
    expect(await peer.closed).toMatchObject({ code: 1009 });
    dialer.destroy();
  });

  it('A dialer closes the connection at the header of a message over maxMessageBytes', async () => {
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'mux.v1.json' });
    http.now.once('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, () => socket.write(announced(MAX + 1, false)));
    });
    const dialer = connect(`ws://127.0.0.1:${portOf(http.now)}`, { keepalive: false, limits: { maxMessageBytes: MAX } });
    expect(await dialer.closed).toMatchObject({ code: 1009 });
  });
});
