import { afterEach } from '@jest/globals';
import { connect as dial } from '../../../src/index.js';
import type { ConnectOptions, ConnectUrl, Peer } from '../../../src/index.js';
import { createPair as pair } from '../../../src/testing.js';

const ends = new Set<() => void>();

// An unended peer has deadlines that would keep the process alive.
afterEach(() => {
  for (const end of ends) end();
  ends.clear();
});

/** `createPair`, with its line cut after the test. On a stalled line, closing peers would wait for each other. */
export const createPair = ((...given: Parameters<typeof pair>) => {
  const made = pair(...given);
  ends.add(() => {
    made.link.cut();
  });
  return made;
}) as typeof pair;

/** `connect`, with its peer closed after the test. */
export function connect(url: ConnectUrl, options?: ConnectOptions): Peer {
  const peer = dial(url, options);
  ends.add(() => void peer.close());
  return peer;
}
