import { afterEach } from '@jest/globals';
import { connect as dial } from '../../src/index.js';
import type { ConnectOptions, ConnectUrl, Peer } from '../../src/index.js';
import { createPair as pair } from '../../src/testing.js';
import type { Pair, PairOptions } from '../../src/testing.js';

const made = new Set<Peer>();

// The deadlines of a peer that nobody closes would keep the process, as they would a program's.
afterEach(() => {
  for (const peer of made) void peer.close();
  made.clear();
});

/** `createPair`, whose peers are closed after the test. */
export function createPair(options?: PairOptions): Pair {
  const { dialer, acceptor, link } = pair(options);
  made.add(dialer).add(acceptor);
  return { dialer, acceptor, link };
}

/** `connect`, whose peer is closed after the test. */
export function connect(url: ConnectUrl, options?: ConnectOptions): Peer {
  const peer = dial(url, options);
  made.add(peer);
  return peer;
}
