import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Backoff } from '../../src/peer/dial/backoff.js';
import { CloseCode } from '../../src/wire/codes.js';
import { SEED } from './seeded.js';

const CLIENTS = 10_000;
/** Slots of the time in which a crowd may come back. */
const SLOTS = 20;
/** The largest allowed share of the clients in one slot: twice the share of an even spread. */
const MOST = 2 / SLOTS;

const LOST = { code: CloseCode.ABNORMAL, reason: '', wasClean: false };
const FACTS = { status: null, error: null, announced: null, offline: false, openMs: 60_000, heard: true, retryAfterMs: null };

/** The share of a crowd that dials in the busiest slot, after its nth failure in a row. */
function peak(failures: number, code: number): number {
  const delays = Array.from({ length: CLIENTS }, () => {
    const backoff = new Backoff({ maxAttempts: Infinity });
    for (let left = failures; left > 0; left--) backoff.failed(LOST, FACTS);
    return backoff.delay(code, FACTS);
  });
  const widest = Math.max(...delays);
  const slots = new Map<number, number>();
  for (const delay of delays) {
    const slot = Math.floor((delay / (widest + 1)) * SLOTS);
    slots.set(slot, (slots.get(slot) ?? 0) + 1);
  }
  return Math.max(...slots.values()) / CLIENTS;
}

const CASES: readonly (readonly [what: string, failures: number, code: number])[] = [
  ['after lost sockets', 1, CloseCode.ABNORMAL],
  ['after a restart of the server', 1, CloseCode.RESTART],
  ['after a third failed dial', 3, CloseCode.ABNORMAL],
  ['after the longest wait', 12, CloseCode.ABNORMAL],
];

describe(`a crowd of ${CLIENTS} clients`, () => {
  beforeEach(() => {
    let state = SEED;
    jest.spyOn(Math, 'random').mockImplementation(() => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    });
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each(CASES)('A crowd of clients comes back spread out %s', (_, failures, code) => {
    expect(peak(failures, code)).toBeLessThanOrEqual(MOST);
  });

  it.each(CASES)('A crowd of clients without jitter comes back at once, and the test sees it, %s', (_, failures, code) => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(peak(failures, code)).toBe(1);
  });
});
