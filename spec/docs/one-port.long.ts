import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { connect } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';

const CLIENTS = 50;
const RESTARTS = 5;

const page = loadRecipes() as Recipes;

async function start(port: number): Promise<{ readonly port: number; readonly mux: MuxServer; leave(): Promise<void> }> {
  const http = createServer((_request, response) => response.end('a page'));
  const mux = page.joinPages(http, (payload, stream) => stream.reply(payload), CLIENTS);
  http.listen(port, '127.0.0.1');
  await once(http, 'listening');
  return { port: (http.address() as AddressInfo).port, mux, leave: () => page.leavePort(http, mux) };
}

it('A server on one port answers every call across its restarts', async () => {
  let server = await start(0);
  const { port } = server;
  const peers = Array.from({ length: CLIENTS }, () => connect(`ws://127.0.0.1:${port}/mux`, { reconnect: true }));
  let going = true;
  let answered = 0;
  let longestMs = 0;
  const failures: unknown[] = [];
  const clients = peers.map(async (peer) => {
    while (going) {
      const asked = performance.now();
      await peer.request(answered, { retry: 'safe' }).then(
        () => answered++,
        (error: unknown) => failures.push(error),
      );
      longestMs = Math.max(longestMs, performance.now() - asked);
    }
  });
  for (let nth = 0; nth < RESTARTS; nth++) {
    const old = server;
    const left = old.leave();
    server = await start(port);
    await left;
    // Each client has found the new server.
    await Promise.all(peers.map((peer) => peer.request('round', { retry: 'safe' })));
  }
  going = false;
  await Promise.all(clients);
  process.stdout.write(
    `${CLIENTS} clients, ${RESTARTS} restarts: ${answered} calls, the longest took ${(longestMs / 1000).toFixed(1)} s\n`,
  );
  expect(failures).toEqual([]);
  await Promise.all(peers.map((peer) => peer.close()));
  await server.leave();
});
