import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Backoff } from '../../src/peer/backoff.js';
import { CloseCode } from '../../src/wire/close-reason.js';
import { SEED } from './seeded.js';

const CLIENTS = 10_000;
/** Parts of the time over which a crowd may come back. */
const SLOTS = 20;
/** Of the clients, in one slot: twice what it would be if they came evenly. */
const MOST = 2 / SLOTS;

const LOST = { code: CloseCode.ABNORMAL, reason: '', wasClean: false };
const FACTS = { status: null, error: null, announced: null, offline: false, openMs: 60_000, retryAfterMs: null };

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
  ['whose sockets are lost', 1, CloseCode.ABNORMAL],
  ['whose server restarts', 1, CloseCode.RESTART],
  ['whose third dial fails', 3, CloseCode.ABNORMAL],
  ['that waits as long as can be', 12, CloseCode.ABNORMAL],
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

  it.each(CASES)('%s comes back spread out', (_, failures, code) => {
    expect(peak(failures, code)).toBeLessThanOrEqual(MOST);
  });

  it.each(CASES)('%s comes as a herd without jitter, and that is seen', (_, failures, code) => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(peak(failures, code)).toBe(1);
  });
});
