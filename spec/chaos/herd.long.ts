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
/** Over which clients come back after a goaway (D1). */
const SPREAD_MS = 1_000;
const SEED = 1;
// Each is some seconds of work.

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
 * When each client of a server that closes dials again, in ms: the goaway comes when the server closes its peer, the dial after
 * the wait that a dialer takes after a goaway. The peers have no sockets: it is the times that matter.
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

/** The most that fall into any window. */
function peakOf(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  let first = 0;
  return sorted.reduce((peak, at, nth) => {
    while ((sorted[first] ?? at) <= at - WINDOW_MS) first++;
    return Math.max(peak, nth - first + 1);
  }, 0);
}

describe(`the ${CLIENTS} clients of a server that closes, when they dial again,`, () => {
  it.each([10_000, 60_000])(`are no herd: at most ${MOST_AT_ONCE} dial in any ${WINDOW_MS} ms of a drain of %d ms`, async (drainMs) => {
    expect(peakOf(await dialsAgain(drainMs))).toBeLessThanOrEqual(MOST_AT_ONCE);
  });

  it('are one where the server gives itself no time to drain, though spread over a second', async () => {
    const dials = await dialsAgain(0);
    const evenly = (CLIENTS * WINDOW_MS) / SPREAD_MS;
    expect(Math.max(...dials)).toBeLessThanOrEqual(SPREAD_MS);
    expect(peakOf(dials)).toBeGreaterThan(MOST_AT_ONCE);
    expect(peakOf(dials)).toBeLessThan(1.2 * evenly);
  });
});
