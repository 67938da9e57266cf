import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import WebSocket from 'ws';
import { Peer } from '../../src/index.js';
import type { SocketLike } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { percentile } from '../chaos/figures.js';
import { LongLine } from '../support/socket/long-line.js';

const MIB = 1024 * 1024;
const PIECE = 64 * 1024;
const PIECES = (24 * MIB) / PIECE;
/** Enough for the window of bulk to open on a long line. */
const LONG_PIECES = 600;
/** How fast a page reads: 12 MiB a second. */
const PAGE_BYTES_PER_MS = (12 * MIB) / 1_000;
const STILL_MS = 2_500;

let server: MuxServer | null = null;
let line: LongLine | null = null;

afterEach(async () => {
  await server?.close();
  line?.close();
  server = line = null;
});

/**
 * A server with the default options, which sends pieces as fast as they leave, and answers other calls at once.
 *
 * @returns its port
 */
async function listening(pieces = PIECES, bytes = PIECE): Promise<number> {
  server = serve({
    port: 0,
    onStream: (payload, stream) =>
      payload === 'pieces' ? stream.sendAll(Array.from({ length: pieces }, () => 'x'.repeat(bytes))) : stream.reply(payload),
  });
  return (await server.listening).port;
}

/** A socket that cannot pause its reading, as in a browser. */
function pageSocket(url: string): SocketLike {
  const socket = new WebSocket(url, 'mux.v1.json', { perMessageDeflate: false });
  return Object.assign(socket, { pause: () => undefined, resume: () => undefined });
}

async function page(port: number): Promise<Peer> {
  const peer = new Peer(pageSocket(`ws://127.0.0.1:${port}`), { isDialer: true });
  void peer.serve();
  await peer.opened;
  return peer;
}

async function dialed(where: string, port: number): Promise<Peer> {
  if (where !== 'Node') return page(port);
  const peer = connect(`ws://127.0.0.1:${port}`, { reconnect: false });
  await peer.opened;
  return peer;
}

/** Returns how many bytes of pieces have arrived so far. */
function arrivedAt(peer: Peer): () => number {
  let bytes = 0;
  peer.onFrame((direction, { fragment }) => {
    if (direction === 'rx' && fragment !== null) bytes += String(fragment).length;
  });
  return () => bytes;
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
  for await (const piece of peer.open<string>('pieces', { end: true })) if (piece !== '') await before(seen.pieces++);
  state.done = true;
  await calling;
  await peer.close();
  return seen;
}

/**
 * Calls on both connections again and again, at the same moments. Returns how long the calls of each waited, in ms. The other work
 * of the machine delays both alike.
 */
async function callBoth(first: Peer, second: Peer, state: { readonly done: boolean }): Promise<readonly [number[], number[]]> {
  const waits: readonly [number[], number[]] = [[], []];
  const timed = async (peer: Peer, took: number[]): Promise<void> => {
    const begun = performance.now();
    await peer.request('small', { timeoutMs: 0 });
    took.push(performance.now() - begun);
  };
  for (let nth = 0; !state.done; nth++) {
    const calls = [() => timed(first, waits[0]), () => timed(second, waits[1])];
    if (nth % 2 === 1) calls.reverse();
    await Promise.all(calls.map((call) => call()));
    await wait(2);
  }
  return waits;
}

describe('slow readers between real sockets, with the default options', () => {
  it.each([
    ['Node', PIECE],
    ['a page', PIECE],
    ['Node', 1_024],
    ['a page', 1_024],
  ])(
    'A reader in %s of values of %d bytes stands still for 2.5 s: everything arrives, and the other calls wait far less',
    async (where, bytes) => {
      const count = (PIECES * PIECE) / bytes;
      const peer = await dialed(where, await listening(count, bytes));
      const { pieces, longestCallMs } = await read(peer, (nth) => (nth === 20 ? wait(STILL_MS) : null));
      expect(pieces).toBe(count);
      expect(longestCallMs).toBeLessThan(STILL_MS / 2);
    },
    60_000,
  );

  it('A page that reads slower than its server sends receives everything, holds 8 MiB at most, and its other calls hardly wait', async () => {
    const port = await listening();
    const [reading, idle] = await Promise.all([page(port), page(port)]);
    const arrived = arrivedAt(reading);
    let mostHeld = 0;
    const state = { done: false };
    const calling = callBoth(reading, idle, state);
    let pieces = 0;
    const begun = performance.now();
    try {
      for await (const piece of reading.open<string>('pieces', { end: true })) {
        if (piece.length === PIECE) pieces++;
        mostHeld = Math.max(mostHeld, arrived() - pieces * PIECE);
        await wait(Math.max(0, begun + (pieces * PIECE) / PAGE_BYTES_PER_MS - performance.now()));
      }
    } finally {
      state.done = true;
    }
    const [beside, alone] = await calling;
    expect(pieces).toBe(PIECES);
    expect(mostHeld).toBeLessThanOrEqual(8 * MIB);
    expect(percentile(beside, 99)).toBeLessThanOrEqual(2 * percentile(alone, 99));
    await Promise.all([reading.close(), idle.close()]);
  });

  it.each([
    ['Node', '100 Mbit/s and 150 ms', 12_500, 150],
    ['a page', '100 Mbit/s and 150 ms', 12_500, 150],
    ['Node', '480 Mbit/s and 100 ms', 60_000, 100],
    ['a page', '480 Mbit/s and 100 ms', 60_000, 100],
  ])(
    'A reader in %s stands still behind a line of %s: everything arrives, 8 MiB are held at most, and other calls wait far less',
    async (where, _line, bytesPerMs, rttMs) => {
      line = await LongLine.listen(await listening(LONG_PIECES), bytesPerMs, rttMs);
      const peer = await dialed(where, line.port);
      const arrived = arrivedAt(peer);
      let held = 0;
      const { pieces, longestCallMs } = await read(peer, async (nth) => {
        if (nth !== LONG_PIECES / 2) return;
        await wait(STILL_MS);
        held = arrived() - nth * PIECE;
      });
      expect(pieces).toBe(LONG_PIECES);
      // The window fills while the reader stands still, so more than a lone window has arrived.
      expect(held).toBeGreaterThan(2 * MIB);
      expect(held).toBeLessThanOrEqual(8 * MIB);
      expect(longestCallMs).toBeLessThan(STILL_MS / 2);
    },
    60_000,
  );
});
