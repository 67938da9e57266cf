import fc from '../support/fast-check.js';
import { asyncScheduler } from 'rxjs';
import { connect, logger } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { createServer, virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';

/** An event in the life of a connection. */
export interface Event {
  readonly atMs: number;
  readonly what: 'cut' | 'goaway' | 'outage' | 'stall';
  /** How long an outage, a stall or a drain lasts. */
  readonly ms: number;
}

/** The latency and the events of a run. */
export interface Weather {
  readonly latencyMs: number;
  readonly events: readonly Event[];
}

/** The time when all events of a run are over. */
export const CALM_MS = 400;

/** Cuts, goaways, outages and stalls in the first 300 ms. */
export const weather: fc.Arbitrary<Weather> = fc.record({
  latencyMs: fc.nat(5),
  events: fc.array(fc.record({ atMs: fc.nat(300), what: fc.constantFrom('cut', 'goaway', 'outage', 'stall'), ms: fc.nat(40) }), {
    maxLength: 12,
  }),
});

/** One dialer in some weather. */
export interface Run {
  readonly peer: Peer;
  readonly time: VirtualTime;
  /** Runs `task` at a time of the run. */
  readonly at: (ms: number, task: () => void) => void;
}

/** Runs `body` in virtual time. Its peer dials a server that passes each of its peers to `accept`. */
export async function run({ latencyMs, events }: Weather, accept: (peer: Peer) => void, body: (run: Run) => Promise<void>): Promise<void> {
  const time = virtualTime();
  logger.level = 'silent';
  const server = createServer({ latencyMs });
  let accepted: Peer | null = null;
  server.peers$.subscribe((peer) => {
    accepted = peer;
    accept(peer);
  });
  const at = (ms: number, task: () => void): void => void asyncScheduler.schedule(task, ms);
  for (const { atMs, what, ms } of events)
    at(atMs, () => {
      const { link } = server;
      if (what === 'cut') link?.cut();
      else if (what === 'goaway') void accepted?.close({ drainMs: ms });
      else if (what === 'stall') {
        link?.stall('acceptor');
        at(ms, () => link?.resume('acceptor'));
      } else {
        server.refuse(503);
        link?.cut();
        at(ms, () => server.refuse(null));
      }
    });
  const peer = connect('ws://test', {
    socket: server.socket,
    keepalive: false,
    reconnect: { minDelayMs: 2, maxDelayMs: 8, maxAttempts: Infinity },
  });
  try {
    await body({ peer, time, at });
  } finally {
    void peer.close();
    await time.advance(10_000);
    time.restore();
  }
}
