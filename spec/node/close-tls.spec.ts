import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { connect, serve } from '../../src/node.js';
import type { MuxServer, UpgradeOptions } from '../../src/node.js';
import { selfSigned } from '../support/socket/certificate.js';
import { answerOn, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { collectLogs } from '../support/peer/logs.js';

/** The header of a TLS record of 512 bytes, and the first byte of its ClientHello. */
const CUT_HELLO = Buffer.from([0x16, 3, 1, 2, 0, 1]);

describe('close with TLS', () => {
  collectLogs();

  let leaks: ReturnType<typeof watchResources>;
  const tls = selfSigned();

  beforeEach(() => {
    leaks = watchResources();
  });

  afterEach(async () => {
    expect(await leaks()).toEqual({});
  });

  const listens = async (options: UpgradeOptions = {}): Promise<MuxServer> => {
    const server = serve({ port: 0, host: '127.0.0.1', tls, keepalive: false, ...options });
    await server.listening;
    return server;
  };
  /** A connection whose TLS handshake is over. */
  const shaken = async (server: MuxServer): Promise<Socket> => {
    const socket = connectTls({ port: portOf(server), host: '127.0.0.1', ca: tls.cert });
    await once(socket, 'secureConnect');
    return socket;
  };

  it.each<readonly [what: string, dial: (server: MuxServer) => Promise<Socket>, text: Buffer | string]>([
    ['a silent connection', rawSocket, ''],
    ['a connection with half a TLS handshake', rawSocket, CUT_HELLO],
    ['a connection that is silent after its TLS handshake', shaken, ''],
    ['a connection with half an HTTP request', shaken, 'GET / HTTP/1.1\r\nHo'],
  ])('A closing TLS server does not wait for %s, and ends it', async (_what, dial, text) => {
    const server = await listens();
    const socket = await dial(server);
    const ended = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
    socket.resume().on('error', () => undefined);
    socket.write(text);
    // Once a later connection is answered, this one has been accepted.
    const dialer = connect(`wss://127.0.0.1:${portOf(server)}`, { keepalive: false, tls: { ca: tls.cert } });
    await dialer.opened;
    let closed = false;
    void server.close().then(() => (closed = true));
    await until('the server to close', () => closed);
    await ended;
    expect(await dialer.closed).toMatchObject({ code: 1000 });
    socket.destroy();
  });

  it('A TLS server keeps nothing of connections that have ended', async () => {
    const server = await listens();
    const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => /^T(CP|LS)/.test(kind)).length;
    const before = sockets();
    const dialer = connect(`wss://127.0.0.1:${portOf(server)}`, { keepalive: false, tls: { ca: tls.cert } });
    await dialer.opened;
    expect(sockets()).toBeGreaterThan(before);
    await dialer.close();
    await until('both ends of its socket to be gone', () => sockets() === before);
    await turn();
    const destroyed = jest.spyOn(Socket.prototype, 'destroy');
    const closed = server.close();
    expect(destroyed).not.toHaveBeenCalled();
    destroyed.mockRestore();
    await closed;
  });

  it('A closing TLS server answers 503 to a dialer whose verdict is pending', async () => {
    let asked = false;
    const server = await listens({
      verify: () => {
        asked = true;
        return new Promise(() => undefined);
      },
    });
    const socket = await shaken(server);
    const answer = answerOn(socket);
    socket.write(requestOf());
    await until('verify to be asked', () => asked);
    await server.close();
    expect(await answer).toMatchObject({ status: 503, body: 'this side is going away\n' });
    socket.destroy();
  });

  it('`close` keeps the other connections of an HTTPS server of the user', async () => {
    const https = createServer(tls, (_request, response) => response.end('a page'));
    https.listen(0, '127.0.0.1');
    const server = serve({ server: https, keepalive: false });
    await server.listening;
    const accepted = once(https, 'connection');
    const socket = connectTls({ port: portOf(server), host: '127.0.0.1', ca: tls.cert });
    const secured = once(socket, 'secureConnect');
    await accepted;
    await server.close();
    await secured;
    socket.write('GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n');
    expect(await answerOn(socket)).toMatchObject({ status: 200, body: expect.stringContaining('a page') });
    https.close();
  });
});
