import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleUpgrade, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { handshake, rawSocket, requestOf } from '../support/socket/handshake.js';
import type { Offer } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { collectLogs } from '../support/peer/logs.js';

const http = httpServer();

/** Arguments of an upgrade listener. */
type Upgrade = readonly [request: IncomingMessage, socket: Duplex, head: Buffer];

describe('upgrades on a shared HTTP server', () => {
  collectLogs();

  let servers: MuxServer[];

  const served = (...paths: readonly string[]): void => {
    servers = paths.map((path) => serve({ server: http.now, path, keepalive: false }));
  };

  afterEach(async () => {
    await Promise.all(servers.map((server) => server.close()));
  });

  it('A reset of a socket that another listener handles throws no error', async () => {
    served('/a', '/b');
    const dialer = await rawSocket(http.now);
    dialer.write(requestOf({ path: '/theirs' }));
    const [, socket] = (await once(http.now, 'upgrade')) as unknown as Upgrade;
    const listeners = socket.listenerCount('error');
    const failed = new Promise((resolve) => socket.once('close', resolve));
    dialer.resetAndDestroy();
    expect([await failed, listeners]).toEqual([true, 1]);
  });

  it.each<readonly [what: string, offer: Offer, status: number]>([
    ['accepts', {}, 101],
    ['refuses', { protocols: ['x'] }, 400],
  ])('Servers on one HTTP server share one error listener on a socket that handleUpgrade %s', async (_what, offer, status) => {
    served('/a', '/b');
    const listeners: unknown[] = [];
    http.now.once('upgrade', (...upgrade) => {
      handleUpgrade(...upgrade, { keepalive: false });
      listeners.push(...upgrade[1].listeners('error'));
    });
    const answer = await handshake(http.now, { ...offer, path: '/theirs' });
    expect(answer.status).toBe(status);
    expect(listeners).toEqual([...new Set(listeners)]);
    answer.socket.destroy();
  });
});
