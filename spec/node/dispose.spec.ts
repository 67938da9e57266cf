import { expect, it } from '@jest/globals';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { portOf } from '../support/socket/handshake.js';

it('A server and its client in one `await using` block answer, and are closed at its end', async () => {
  const ended: Promise<unknown>[] = [];
  const block = async (): Promise<MuxServer> => {
    await using server = serve({ port: 0, handler: (n: number, stream) => stream.reply(n * n) });
    await server.listening;
    await using peer = connect(`ws://127.0.0.1:${portOf(server)}`);
    ended.push(server.closed, peer.closed);
    expect(await peer.request(12)).toBe(144);
    return server;
  };
  const server = await block();
  expect(await Promise.all(ended)).toMatchObject([undefined, { code: 1000, wasClean: true }]);
  expect([server.address(), server.peers.size]).toEqual([null, 0]);
});
