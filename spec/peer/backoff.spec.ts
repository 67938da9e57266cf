import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Backoff } from '../../src/peer/backoff.js';
import type { DialFailure, FailureFacts, Reconnect } from '../../src/peer/backoff.js';
import { CodecMismatch, ConnectError } from '../../src/wire/errors.js';
import { collectLogs } from '../support/peer-logs.js';

const logs = collectLogs();

const LOST = { code: 1006, reason: '', wasClean: false };
const NOTHING: FailureFacts = { status: null, error: null, announced: null, offline: false };

/** A backoff after so many failures, connected before them or not. */
function after(failures: number, options: Reconnect = {}, connected = true): Backoff {
  const backoff = new Backoff(options);
  if (connected) backoff.connected();
  for (let n = 0; n < failures; n++) backoff.failed(LOST, NOTHING);
  return backoff;
}

/** How long a run of failures goes on being retried, up to 100. */
function attempts(backoff: Backoff, facts: Partial<FailureFacts> = {}): number {
  for (let n = 1; n <= 100; n++) if (!backoff.failed(LOST, { ...NOTHING, ...facts })) return n;
  return Infinity;
}

describe('the delay', () => {
  it('lies between 0 and 500 ms doubled with each failure, and is never more than 30 s', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), (failures) => {
        const delay = after(failures).delay(1006, null);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(Math.min(30_000, 500 * 2 ** (failures - 1)));
      }),
    );
  });

  it('stays within the bounds that the options set', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(1_000), fc.nat(100_000), (failures, minDelayMs, more) => {
        const maxDelayMs = minDelayMs + more;
        const delay = after(failures, { minDelayMs, maxDelayMs }).delay(1006, null);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(Math.min(maxDelayMs, minDelayMs * 2 ** (failures - 1)));
      }),
    );
  });

  it('is spread over its whole range: no herd comes back together', () => {
    const backoff = after(4);
    const delays = Array.from({ length: 2_000 }, () => backoff.delay(1006, null));
    const quarters = [0, 1, 2, 3].map((quarter) => delays.filter((delay) => Math.floor(delay / 1_000) === quarter).length);
    for (const count of quarters) expect(count).toBeGreaterThan(350);
  });

  it.each<[string, number, number | null]>([
    ['a goaway in good order', 1006, 0],
    ['1001', 1001, null],
    ['1012', 1012, null],
  ])('lies between 0 and 1 s after %s, however many have failed', (_what, code, announced) => {
    const backoff = after(20);
    const delays = Array.from({ length: 200 }, () => backoff.delay(code, announced));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
    expect(Math.max(...delays)).toBeGreaterThan(900);
  });

  it.each<[string, number, number | null]>([
    ['a goaway with ENHANCE_YOUR_CALM', 1006, 11],
    ['1008 without a goaway', 1008, null],
    ['4008 without a goaway', 4008, null],
  ])('is the longest after %s', (_what, code, announced) => {
    expect([after(1).delay(code, announced), after(1, { maxDelayMs: 7_000 }).delay(code, announced)]).toEqual([30_000, 7_000]);
  });

  it.each<[string, number, number]>([
    ['1008 with a goaway of another code, as of a refused hello', 1008, 7],
    ['4008 with a goaway of another code', 4008, 7],
  ])('is an ordinary one after %s', (_what, code, announced) => {
    const backoff = after(1);
    expect(Math.max(...Array.from({ length: 200 }, () => backoff.delay(code, announced)))).toBeLessThanOrEqual(500);
  });

  it('is none that the platform cannot count', () => {
    const delay = after(1_500, { minDelayMs: 1, maxDelayMs: Infinity }).delay(1008, null);
    expect([delay, after(1_500, { minDelayMs: 0 }).delay(1006, null)]).toEqual([2 ** 31 - 1, 0]);
    const endless = after(1, { minDelayMs: 2 ** 40, maxDelayMs: Infinity });
    expect(Math.max(...Array.from({ length: 100 }, () => endless.delay(1006, null)))).toBeLessThan(2 ** 31);
  });
});

describe('the budget', () => {
  it.each<[string, Backoff, number]>([
    ['5 failures in a row while never yet connected', after(0, {}, false), 5],
    ['unlimited after a first success', after(0), Infinity],
    ['maxAttempts before the first success', after(0, { maxAttempts: 2 }, false), 2],
    ['maxAttempts after it', after(0, { maxAttempts: 7 }), 7],
    ['maxAttempts Infinity before it', after(0, { maxAttempts: Infinity }, false), Infinity],
    ['one failure with maxAttempts 1', after(0, { maxAttempts: 1 }), 1],
    ['one failure with maxAttempts 0', after(0, { maxAttempts: 0 }), 1],
  ])('is %s', (_what, backoff, count) => {
    expect(attempts(backoff)).toBe(count);
  });

  it('starts anew after a stable connection', () => {
    const backoff = after(3, { maxAttempts: 5 });
    expect(backoff.failures).toBe(3);
    backoff.stable();
    expect(backoff.failures).toBe(0);
    expect(attempts(backoff)).toBe(5);
  });

  it('is not spent without a network', () => {
    const backoff = after(0, { maxAttempts: 2 });
    expect([attempts(backoff, { offline: true }), backoff.failures]).toEqual([Infinity, 0]);
  });
});

describe('what is not retried', () => {
  const FATAL: readonly (readonly [what: string, code: number, Partial<FailureFacts>])[] = [
    ['1002', 1002, {}],
    ['1003', 1003, {}],
    ['4002', 4002, {}],
    ['4003', 4003, {}],
    ['HTTP 400', 1006, { status: 400 }],
    ['HTTP 401', 1006, { status: 401 }],
    ['HTTP 403', 1006, { status: 403 }],
    ['another subprotocol', 1008, { error: new CodecMismatch('mux.v1.json', '') }],
  ];

  it.each(FATAL)('is %s, unless shouldRetry says so', (_what, code, facts) => {
    const asked: DialFailure[] = [];
    const reason = { ...LOST, code };
    expect(after(0).failed(reason, { ...NOTHING, ...facts })).toBe(false);
    const stubborn = after(0, {
      shouldRetry: (failure) => {
        asked.push(failure);
        return true;
      },
    });
    expect(stubborn.failed(reason, { ...NOTHING, ...facts })).toBe(true);
    expect(asked).toEqual([
      { attempt: 1, reason: { ...reason, willRetry: false }, status: facts.status ?? null, error: facts.error ?? null, willRetry: false },
    ]);
  });

  it.each<[string, number, Partial<FailureFacts>]>([
    ['1000', 1000, {}],
    ['1001', 1001, {}],
    ['1006', 1006, {}],
    ['1008', 1008, {}],
    ['1009', 1009, {}],
    ['1011', 1011, {}],
    ['1012', 1012, {}],
    ['4008', 4008, {}],
    ['4011', 4011, {}],
    ['HTTP 404', 1006, { status: 404 }],
    ['HTTP 503', 1006, { status: 503 }],
    ['a time-out', 1006, { error: new ConnectError('late') }],
  ])('is not %s, unless shouldRetry says so', (_what, code, facts) => {
    expect(after(0).failed({ ...LOST, code }, { ...NOTHING, ...facts })).toBe(true);
    expect(after(0, { shouldRetry: () => false }).failed({ ...LOST, code }, { ...NOTHING, ...facts })).toBe(false);
  });

  it.each<[string, () => boolean]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['gives a promise', () => Promise.reject(new Error('broken')) as unknown as boolean],
    ['gives nothing', () => undefined as unknown as boolean],
  ])('is decided without shouldRetry where it %s, which is logged', (_what, shouldRetry) => {
    const backoff = after(0, { shouldRetry });
    expect([backoff.failed(LOST, NOTHING), backoff.failed({ ...LOST, code: 1002 }, NOTHING)]).toEqual([true, false]);
    expect(logs.errors).toHaveLength(2);
  });
});
