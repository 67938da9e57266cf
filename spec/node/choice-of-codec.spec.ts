import { afterEach, describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { JsonCodec, settings } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { accept, connect, handleUpgrade, serve } from '../../src/node.js';
import type { AcceptOptions } from '../../src/node.js';
import { portOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';

const NOT_REGISTERED = expect.objectContaining({ code: 'CODEC_NOT_REGISTERED', configured: 'cbor', available: ['json'], retriable: false });

const ECHOING: AcceptOptions = { keepalive: false, handler: (payload, stream) => stream.reply(payload) };

describe('unregistered codecs', () => {
  const http = httpServer();

  afterEach(() => {
    settings.reload();
  });

  const dialed = (): Peer => connect(`ws://127.0.0.1:${portOf(http.now)}`, { keepalive: false, codec: new JsonCodec() });

  it('`accept` throws for an unregistered codec, and leaves the socket to the next call', async () => {
    const sockets = new WebSocketServer({ server: http.now, handleProtocols: () => 'mux.v1.json' });
    const connection = new Promise<WebSocket>((resolve) => sockets.once('connection', resolve));
    const dialer = dialed();
    const socket = await connection;
    settings.codec = 'cbor';
    expect(() => accept(socket, ECHOING)).toThrow(NOT_REGISTERED);
    settings.reload();
    const peer = accept(socket, ECHOING);
    expect(await dialer.request('hi')).toBe('hi');
    await dialer.close();
    expect(await peer.closed).toMatchObject({ code: 1000 });
    sockets.close();
  });

  it('`handleUpgrade` throws for an unregistered codec, and leaves the request to the next call', async () => {
    const held = new Promise<[IncomingMessage, Duplex, Buffer]>((resolve) => {
      http.now.once('upgrade', (...upgrade: [IncomingMessage, Duplex, Buffer]) => {
        resolve(upgrade);
      });
    });
    const dialer = dialed();
    const upgrade = await held;
    settings.codec = 'cbor';
    expect(() => handleUpgrade(...upgrade, ECHOING)).toThrow(NOT_REGISTERED);
    settings.reload();
    const peer = handleUpgrade(...upgrade, ECHOING);
    expect(await dialer.request('hi')).toBe('hi');
    await dialer.close();
    expect(await peer.closed).toMatchObject({ code: 1000 });
  });

  it('`serve` throws for an unregistered codec, before it listens or joins a server', () => {
    settings.codec = 'cbor';
    expect(() => serve({ ...ECHOING, server: http.now })).toThrow(NOT_REGISTERED);
    expect(() => serve({ ...ECHOING, port: 0 })).toThrow(NOT_REGISTERED);
    expect(http.now.listenerCount('upgrade')).toBe(0);
  });

  it('A later setting does not change the codec of a running server', async () => {
    const server = serve({ ...ECHOING, server: http.now });
    settings.codec = 'cbor';
    const dialer = dialed();
    expect(await dialer.request('hi')).toBe('hi');
    await dialer.close();
    await server.close();
  });
});
