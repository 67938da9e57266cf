import { jest } from '@jest/globals';
import { Backoff } from '../../src/peer/dial/backoff.js';
import type { FailureFacts } from '../../src/peer/dial/backoff.js';
import type { Reconnect } from '../../src/peer/dial/backoff.js';
import { STEADY_CLOCK } from '../../src/util/time.js';
import { CONNECT_OPTIONS } from '../../src/peer/connect.js';
import { Heap } from './heap.js';
import type { Ranked } from './heap.js';
import { Random } from '../fuzz/random.js';

/** Clients that lose their server, and dial again. */
export interface Herd {
  readonly clients: number;
  /** The processes that take them. */
  readonly processes: number;
  /** The CPU of a process for one client that comes back, in ms. */
  readonly costMs: number;
  /** The share of its core that a process needs for its other work. */
  readonly busy: number;
  /** Over which time goaways are spread, in ms; `null` where the server is killed. */
  readonly spreadMs: number | null;
  /** How long no process listens, in ms. */
  readonly downMs: number;
  /** The option `reconnect` of the clients. */
  readonly reconnect?: Reconnect;
}

/** How the clients came back. */
export interface Outcome {
  /** The most dials that one process received within any second. */
  readonly peak: number;
  /** When these shares of the clients were back, in ms after the loss. Infinity where dials time out for ever. */
  readonly halfMs: number;
  readonly allMs: number;
  /** Dials that the clients abandoned because the process had not answered in time. */
  readonly timeouts: number;
}

/** The simulated clients. Each stands for several. */
const SAMPLE = 2_000;
const LASTED_MS = 600_000;
export const [, CONNECT_TIMEOUT_MS] = CONNECT_OPTIONS.connectTimeoutMs;

class Client implements Ranked {
  readonly backoff: Backoff;
  /** When it dials next, in ms. */
  rank = 0;
  place = 0;

  constructor(reconnect: Reconnect) {
    this.backoff = new Backoff(reconnect);
    this.backoff.connected();
  }
}

const facts = (openMs: number | null): FailureFacts => ({
  status: null,
  error: null,
  announced: null,
  offline: false,
  openMs,
  heard: openMs !== null,
  retryAfterMs: null,
});

/** Returns the delay before the next dial, as a client without options has it. */
function afterFailure({ backoff }: Client, openMs: number | null): number {
  const reason = { code: 1006, reason: '', wasClean: false };
  backoff.failed(reason, facts(openMs));
  return backoff.delay(reason.code, facts(openMs));
}

/** After as many time-outs of each client, on average, the clients never come back. */
const MOST_TIMEOUTS = 100;

/** Plays one loss in virtual time, with the library's own back-off. The same numbers come out of each run. */
export function play(herd: Herd): Outcome {
  const random = new Random(1);
  const spies = [
    jest.spyOn(Math, 'random').mockImplementation(() => random.below(2 ** 32) / 2 ** 32),
    jest.spyOn(STEADY_CLOCK, 'now').mockImplementation(() => now),
  ];
  let now = 0;
  const dials = new Heap<Client>();
  const sample = Math.min(SAMPLE, herd.clients);
  for (let nth = 0; nth < sample; nth++) {
    now = herd.spreadMs === null ? 0 : (herd.spreadMs * nth) / sample;
    const client = new Client(herd.reconnect ?? {});
    client.rank = now + (herd.spreadMs === null ? afterFailure(client, LASTED_MS) : Number(client.backoff.goneAway(LASTED_MS)));
    dials.add(client);
  }
  const weight = herd.clients / sample;
  const costMs = (weight * herd.costMs) / (1 - herd.busy);
  /** When each process has answered all its dials, in ms. */
  const freeAt = Array.from({ length: herd.processes }, () => 0);
  const arrivals: number[] = [];
  const back: number[] = [];
  let timeouts = 0;
  for (let client = dials.lowest; client !== undefined; client = dials.lowest) {
    now = client.rank;
    dials.delete(client);
    if (now >= herd.downMs) {
      arrivals.push(now);
      const process = random.below(herd.processes);
      const answered = (freeAt[process] = Math.max(now, freeAt[process] ?? 0) + costMs);
      if (answered - now <= CONNECT_TIMEOUT_MS) {
        back.push(answered);
        continue;
      }
      timeouts += weight;
      if (timeouts > MOST_TIMEOUTS * herd.clients) break;
      now += CONNECT_TIMEOUT_MS;
    }
    client.rank = now + afterFailure(client, null);
    dials.add(client);
  }
  for (const spy of spies) spy.mockRestore();
  back.sort((a, b) => a - b);
  return {
    peak: (mostWithin(arrivals, 1_000) * weight) / herd.processes,
    halfMs: back[sample >> 1] ?? Infinity,
    allMs: back[sample - 1] ?? Infinity,
    timeouts: Math.round(timeouts),
  };
}

/** The most times within any window, of times that rise. */
function mostWithin(times: readonly number[], windowMs: number): number {
  let first = 0;
  return times.reduce((most, time, nth) => {
    while ((times[first] ?? time) <= time - windowMs) first++;
    return Math.max(most, nth - first + 1);
  }, 0);
}
