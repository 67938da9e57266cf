import { afterEach, describe, expect, it } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import WebSocket from 'ws';
import { Peer } from '../../src/index.js';
import type { SocketLike } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';

const MIB = 1024 * 1024;
const PIECE = 64 * 1024;
const PIECES = (24 * MIB) / PIECE;
const STILL_MS = 2_500;

let server: MuxServer | null = null;

afterEach(() => server?.close());

/** A server with the default options, which sends pieces as fast as they leave, and answers other calls at once. */
async function listening(): Promise<string> {
  server = serve({
    port: 0,
    onStream: (payload, stream) =>
      payload === 'pieces' ? stream.sendAll(Array.from({ length: PIECES }, () => 'x'.repeat(PIECE))) : stream.reply(payload),
  });
  const { port } = (await server.listening) as AddressInfo;
  return `ws://127.0.0.1:${port}`;
}

/** A socket that cannot pause its reading, as in a browser. */
function pageSocket(url: string): SocketLike {
  const socket = new WebSocket(url, 'mux.v1.json', { perMessageDeflate: false });
  return Object.assign(socket, { pause: () => undefined, resume: () => undefined });
}

async function dialed(where: string): Promise<Peer> {
  const url = await listening();
  const peer = where === 'Node' ? connect(url, { reconnect: false }) : new Peer(pageSocket(url), { isDialer: true });
  if (where !== 'Node') void peer.serve();
  await peer.opened;
  return peer;
}

/** Reads every piece with `for await`, and calls again and again meanwhile. */
async function read(peer: Peer, before: (nth: number) => Promise<unknown> | null) {
  const seen = { pieces: 0, longestCallMs: 0 };
  const state = { done: false };
  const calling = (async () => {
    while (!state.done) {
      const begun = performance.now();
      await peer.request('small', { timeoutMs: 0 });
      seen.longestCallMs = Math.max(seen.longestCallMs, performance.now() - begun);
      await wait(5);
    }
  })();
  for await (const piece of peer.open<string>('pieces', { end: true })) if (piece.length === PIECE) await before(seen.pieces++);
  state.done = true;
  await calling;
  await peer.close();
  return seen;
}

describe('slow readers between real sockets, with the default options', () => {
  it.each(['Node', 'a page'])(
    'A reader in %s that stands still for 2.5 s receives everything, and the other calls wait far less',
    async (where) => {
      const { pieces, longestCallMs } = await read(await dialed(where), (nth) => (nth === 20 ? wait(STILL_MS) : null));
      expect(pieces).toBe(PIECES);
      expect(longestCallMs).toBeLessThan(STILL_MS / 2);
    },
    60_000,
  );

  it('A page that reads slower than its server sends receives everything', async () => {
    const { pieces } = await read(await dialed('a page'), () => wait(15));
    expect(pieces).toBe(PIECES);
  }, 60_000);
});
