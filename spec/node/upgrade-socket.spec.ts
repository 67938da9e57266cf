import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { JsonCodec } from '../../src/index.js';
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

describe('a message that arrives with the handshake', () => {
  let server: MuxServer;

  afterEach(() => server.close());

  it.each<readonly [when: string, knows: 'nobody' | 'onPeer' | 'peers$', order: readonly string[]]>([
    ['in the turn of the upgrade where only its handler knows the peer', 'nobody', ['handler', 'next turn']],
    ['in a later turn where `onPeer` has received the peer', 'onPeer', ['next turn', 'handler']],
    ['in a later turn where a subscriber of `peers$` has received the peer', 'peers$', ['next turn', 'handler']],
  ])('A server reads it %s', async (_when, knows, order) => {
    const seen: string[] = [];
    const socket = await rawSocket(http.now);
    await new Promise<void>((resolve) => {
      http.now.prependOnceListener('upgrade', () => {
        setImmediate(() => seen.push('next turn'));
      });
      server = serve({
        server: http.now,
        keepalive: false,
        onPeer: knows === 'onPeer' ? () => undefined : undefined,
        handler: () => {
          seen.push('handler');
          setImmediate(resolve);
        },
      });
      if (knows === 'peers$') server.peers$.subscribe();
      const open = Buffer.from(new JsonCodec().encode({ type: 'open', stream: 1, end: true }));
      // A frame with a mask of zeros.
      socket.write(Buffer.concat([Buffer.from(requestOf()), Buffer.from([0x81, 0x80 | open.length, 0, 0, 0, 0]), open]));
    });
    socket.destroy();
    expect(seen).toEqual(order);
  });
});
