import { describe, expect, it } from '@jest/globals';
import { collectLogs } from '../support/peer/logs.js';
import { losesNothing } from './restarting.js';

const logs = collectLogs();

/** The time that a client may wait beside the outage and its dial, in ms. */
const MOST_WAIT_MS = 2_000;

describe('restarts', () => {
  it.each(['after the drain', 'at once'] as const)(
    'Twenty restarts of 10 s lose no request of 200 clients, and no client waits long, if the next server listens %s',
    async (next) => {
      const outcome = await losesNothing({ clients: 200, restarts: 20, drainMs: 10_000, next });
      process.stdout.write(`${next}: ${JSON.stringify(outcome)}\n`);
      const { longestWaitMs, longestOutageMs, longestDialMs } = outcome;
      expect(longestWaitMs).toBeLessThan(longestOutageMs + longestDialMs + MOST_WAIT_MS);
      expect(logs.errors).toEqual([]);
    },
    600_000,
  );
});
