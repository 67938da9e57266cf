import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { serve } from '../../src/node.js';
import { Backoff } from '../../src/peer/dial/backoff.js';
import { Peer } from '../../src/peer/peer.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { Random } from '../fuzz/random.js';

const CLIENTS = 10_000;
const MOST_AT_ONCE = 0.03 * CLIENTS;
const WINDOW_MS = 100;
/** The time over which clients spread their dials after a goaway (D1). */
const SPREAD_MS = 1_000;
const SEED = 1;
// Each test takes some seconds.

let time: VirtualTime;

beforeEach(() => {
  time = virtualTime();
  const random = new Random(SEED);
  jest.spyOn(Math, 'random').mockImplementation(() => random.below(2 ** 32) / 2 ** 32);
});

afterEach(() => {
  jest.restoreAllMocks();
  time.restore();
});

/**
 * The times at which the clients of a closing server dial again, in ms. The server sends a goaway when it closes a peer, and the dialer
 * waits before it dials. The peers have no sockets, since only the times matter.
 */
async function dialsAgain(drainMs: number): Promise<number[]> {
  const server = serve({ server: createServer() });
  const { peers } = server;
  if (!(peers instanceof Set)) throw new Error('expected a server whose peers can be set');
  for (let nth = 0; nth < CLIENTS; nth++) peers.add(Object.create(Peer.prototype));
  const dials: number[] = [];
  const close = jest.spyOn(Peer.prototype, 'close').mockImplementation(() => {
    dials.push(time.now + new Backoff({}).spread());
    return new Promise(() => undefined);
  });
  void server.close({ drainMs });
  await time.advance(drainMs);
  expect(close).toHaveBeenCalledTimes(CLIENTS);
  return dials;
}

/** The highest number of times in any window. */
function peakOf(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  let first = 0;
  return sorted.reduce((peak, at, nth) => {
    while ((sorted[first] ?? at) <= at - WINDOW_MS) first++;
    return Math.max(peak, nth - first + 1);
  }, 0);
}

describe(`redials of ${CLIENTS} clients`, () => {
  it.each([10_000, 60_000])(`At most ${MOST_AT_ONCE} clients dial in any ${WINDOW_MS} ms of a drain of %d ms`, async (drainMs) => {
    expect(peakOf(await dialsAgain(drainMs))).toBeLessThanOrEqual(MOST_AT_ONCE);
  });

  it('More clients dial at once after a close without a drain, spread over one second', async () => {
    const dials = await dialsAgain(0);
    const evenly = (CLIENTS * WINDOW_MS) / SPREAD_MS;
    expect(Math.max(...dials)).toBeLessThanOrEqual(SPREAD_MS);
    expect(peakOf(dials)).toBeGreaterThan(MOST_AT_ONCE);
    expect(peakOf(dials)).toBeLessThan(1.2 * evenly);
  });
});
