import { describe, expect, it } from '@jest/globals';
import { FloodGuard } from '../../../src/connection/inbound.js';
import { ConnectionFault } from '../../../src/wire/errors.js';
import { DEFAULT_LIMITS, resolveLimits } from '../../../src/wire/limits.js';
import type { Limits } from '../../../src/wire/limits.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { inTime } from '../../support/session/time.js';

const KIB = 1024;
const { PROTOCOL_ERROR, STREAM_CLOSED, ENHANCE_YOUR_CALM } = ResetCode;

const flood = (limits: Partial<Limits> = {}): FloodGuard => new FloodGuard(resolveLimits(limits));

const repeat = (count: number, act: () => void): void => {
  for (let n = 0; n < count; n++) act();
};

/** Returns the ConnectionFault that an act throws. */
const faultOf = (act: () => void): ConnectionFault => {
  try {
    act();
  } catch (error) {
    if (error instanceof ConnectionFault) return error;
    throw error;
  }
  throw new Error('expected a ConnectionFault, got none');
};

/** A bucket whose exhaustion ends the connection, an act that takes from it, and its numbers in the protocol. */
interface Row {
  readonly limit: 'provokedResets' | 'junk' | 'pings';
  readonly take: (flood: FloodGuard) => void;
  readonly burst: number;
  readonly perSecond: number;
  readonly reason: string;
}

const ROWS: readonly Row[] = [
  {
    limit: 'provokedResets',
    take: (of) => {
      of.countProvokedReset(PROTOCOL_ERROR);
    },
    burst: 1_024,
    perSecond: 1,
    reason: 'more than 1024 at once and 1 per second provoked resets (provokedResets)',
  },
  {
    limit: 'provokedResets',
    take: (of) => {
      of.countProvokedReset(STREAM_CLOSED);
    },
    burst: 1_024,
    perSecond: 1,
    reason: 'more than 1024 at once and 1 per second provoked resets (provokedResets)',
  },
  {
    limit: 'junk',
    take: (of) => {
      of.countJunk('a pong that answers no ping');
    },
    burst: 10_000,
    perSecond: 330,
    reason: 'more than 10000 at once and 330 per second frames that make no sense (junk)',
  },
  {
    limit: 'pings',
    take: (of) => {
      of.countPing();
    },
    burst: 1_000,
    perSecond: 33,
    reason: 'more than 1000 at once and 33 per second pings (pings)',
  },
];

describe('floods', () => {
  it.each(ROWS)(
    'FloodGuard ends the connection with ENHANCE_YOUR_CALM and 1008 past $burst $limit',
    inTime<[Row]>((_time, { take, burst, reason }) => {
      const counted = flood();
      repeat(burst, () => {
        take(counted);
      });
      const fault = faultOf(() => {
        take(counted);
      });
      expect([fault.resetCode, fault.closeCode, fault.message]).toEqual([ENHANCE_YOUR_CALM, 1008, reason]);
    }),
  );

  it.each(ROWS)(
    'FloodGuard accepts $limit at $perSecond a second',
    inTime<[Row]>((time, { take, burst, perSecond }) => {
      const counted = flood();
      repeat(burst, () => {
        take(counted);
      });
      time.advance(1_000);
      repeat(perSecond, () => {
        take(counted);
      });
      faultOf(() => {
        take(counted);
      });
    }),
  );

  it.each(ROWS)(
    'FloodGuard leaves the other buckets full when $limit are exhausted',
    inTime<[Row]>((_time, { limit, take, burst }) => {
      const counted = flood();
      repeat(burst, () => {
        take(counted);
      });
      for (const other of ROWS) if (other.limit !== limit) other.take(counted);
      expect(counted.refusal).toBeNull();
    }),
  );

  it.each([
    ...Object.entries(ResetCode).filter(([, code]) => code !== PROTOCOL_ERROR && code !== STREAM_CLOSED),
    ['an application code', 300],
  ])('FloodGuard does not count a reset whose code blames no side: %s', (_name, code) => {
    const counted = flood({ provokedResets: { burst: 0, perSecond: 0 } });
    counted.countProvokedReset(Number(code));
    expect(() => {
      counted.countProvokedReset(PROTOCOL_ERROR);
    }).toThrow(ConnectionFault);
  });
});

describe('resets of running handlers', () => {
  it(
    'FloodGuard refuses new streams until it has tokens again, and keeps the connection',
    inTime((time) => {
      const counted = flood();
      repeat(999, () => {
        counted.countEarlyReset();
      });
      expect(counted.refusal).toBeNull();
      repeat(10_000, () => {
        counted.countEarlyReset();
      });
      expect(counted.refusal).toBe('more than 1000 at once and 100 per second resets of running handlers (resets)');
      time.advance(5);
      expect(counted.refusal).not.toBeNull();
      time.advance(5);
      expect(counted.refusal).toBeNull();
      counted.countEarlyReset();
      expect(counted.refusal).not.toBeNull();
    }),
  );

  it('FloodGuard refuses no stream before the first reset', () => {
    expect(flood().refusal).toBeNull();
    expect(DEFAULT_LIMITS.resets).toEqual({ burst: 1_000, perSecond: 100 });
  });
});

describe('earned pings', () => {
  /** Counts the pings that are accepted before one ends the connection. */
  const pingsOf = (counted: FloodGuard): number => {
    let taken = 0;
    try {
      for (; taken < 100; taken++) counted.countPing();
    } catch {
      // This ping was one too many.
    }
    return taken;
  };

  it.each([
    ['256 KiB earn one', [256 * KIB], 1],
    ['one byte less earns none', [256 * KIB - 1], 0],
    ['256 KiB in several messages earn one', [100 * KIB, 100 * KIB, 56 * KIB - 1, 1], 1],
    ['each 256 KiB earn one, and the remainder counts on', [700 * KIB, 68 * KIB], 3],
    ['at most the burst is earned', [256 * KIB * 9], 4],
  ])('Received bytes earn pings: %s', (_what, messages, earned) => {
    const counted = flood({ pings: { burst: 4, perSecond: 0 } });
    expect(pingsOf(counted)).toBe(4);
    for (const bytes of messages) counted.received(bytes);
    expect(pingsOf(counted)).toBe(earned);
  });

  it('Received bytes earn a ping only once', () => {
    const counted = flood({ pings: { burst: 4, perSecond: 0 } });
    pingsOf(counted);
    counted.received(257 * KIB);
    expect(pingsOf(counted)).toBe(1);
    counted.received(255 * KIB - 1);
    expect(pingsOf(counted)).toBe(0);
    counted.received(1);
    expect(pingsOf(counted)).toBe(1);
  });
});
