import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS, resolveLimits } from '../../src/wire/limits.js';

const MIB = 1024 * 1024;

describe('Limits', () => {
  it('Limits have these defaults', () => {
    expect(resolveLimits()).toEqual({
      maxMessageBytes: MIB,
      maxPayloadBytes: 16 * MIB,
      maxHeldBytes: 64 * MIB,
      maxPayloadItems: 1_000_000,
      maxFragments: 16_384,
      maxEmptyFragments: 100,
      reassemblyTimeoutMs: 30_000,
      maxStreams: 1_000,
      resets: { burst: 1_000, perSecond: 100 },
      provokedResets: { burst: 1_024, perSecond: 1 },
      junk: { burst: 10_000, perSecond: 330 },
      pings: { burst: 1_000, perSecond: 33 },
      maxControlFrames: 1_000,
      pauseBytes: MIB,
      pauseMs: 5_000,
      maxUnreadBytes: 4 * MIB,
      maxUnsentBytes: 64 * MIB,
      stallBytes: MIB,
      stallMs: 60_000,
      sendHighWaterBytes: 16 * MIB,
      maxQueuedBytes: 16 * MIB,
    });
  });

  it('`resolveLimits` keeps given values, and adds the defaults for missing and undefined ones', () => {
    const given = { maxStreams: 0, maxFragments: undefined, maxHeldBytes: Number.POSITIVE_INFINITY, pings: { burst: 5, perSecond: 0 } };
    expect(resolveLimits(given)).toEqual({
      ...DEFAULT_LIMITS,
      maxStreams: 0,
      maxHeldBytes: Number.POSITIVE_INFINITY,
      pings: { burst: 5, perSecond: 0 },
    });
  });

  it.each<[object, RegExp]>([
    [{ maxFrames: 1 }, /^limits: expected one of maxMessageBytes, .*, got 'maxFrames'$/],
    [{ toString: 1 }, /^limits: expected one of .*, got 'toString'$/],
    [{ maxStreams: -1 }, /^limits.maxStreams: expected a number of at least 0, got -1$/],
    [{ maxStreams: Number.NaN }, /^limits.maxStreams: expected a number of at least 0, got NaN$/],
    [{ maxStreams: '10' }, /^limits.maxStreams: expected a number of at least 0, got '10'$/],
    [[], /^limits: expected an object, got an array$/],
    [{ maxStreams: null }, /^limits.maxStreams: expected a number of at least 0, got null$/],
    [{ maxMessageBytes: 65_535 }, /^limits.maxMessageBytes: expected a number of at least 65536, got 65535$/],
    [{ maxPayloadItems: 0 }, /^limits.maxPayloadItems: expected a number of at least 1, got 0$/],
    [{ maxPayloadItems: '5' }, /^limits.maxPayloadItems: expected a number of at least 1, got '5'$/],
    [{ junk: 5 }, /^limits.junk: expected { burst, perSecond }, got 5$/],
    [{ junk: null }, /^limits.junk: expected { burst, perSecond }, got null$/],
    [{ junk: Object.assign(() => 0, { burst: 5, perSecond: 5 }) }, /^limits.junk: expected { burst, perSecond }, got a function$/],
    [{ junk: {} }, /^limits.junk.burst: expected a number of at least 0, got undefined$/],
    [{ junk: { burst: 5 } }, /^limits.junk.perSecond: expected a number of at least 0, got undefined$/],
    [{ resets: { burst: -1, perSecond: 1 } }, /^limits.resets.burst: expected a number of at least 0, got -1$/],
  ])('`resolveLimits` throws for %p', (given, message) => {
    expect(() => resolveLimits(given)).toThrow(TypeError);
    expect(() => resolveLimits(given)).toThrow(message);
  });
});
