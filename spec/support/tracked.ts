import { afterEach } from '@jest/globals';
import { connect as dial } from '../../src/index.js';
import type { ConnectOptions, ConnectUrl, Peer } from '../../src/index.js';
import { createPair as pair } from '../../src/testing.js';
import type { Pair, PairOptions } from '../../src/testing.js';

const ends = new Set<() => void>();

// The deadlines of a peer that nobody ends would keep the process, as they would a program's.
afterEach(() => {
  for (const end of ends) end();
  ends.clear();
});

/** `createPair`, whose line is cut after the test: where a test has stalled it, peers that are closed would wait for each other. */
export function createPair(options?: PairOptions): Pair {
  const made = pair(options);
  ends.add(() => {
    made.link.cut();
  });
  return made;
}

/** `connect`, whose peer is closed after the test. */
export function connect(url: ConnectUrl, options?: ConnectOptions): Peer {
  const peer = dial(url, options);
  ends.add(() => void peer.close());
  return peer;
}
