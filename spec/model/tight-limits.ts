import type { Limits } from '../../src/wire/limits.js';

const FEW = { burst: 12, perSecond: 1 };

/** Limits that a short script reaches. */
export const TIGHT: Partial<Limits> = {
  maxPayloadBytes: 1_200,
  maxHeldBytes: 1_000,
  maxUnreadBytes: 600,
  maxStreams: 5,
  maxFragments: 12,
  maxEmptyFragments: 2,
  sendHighWaterBytes: 2_500,
  maxUnsentBytes: 6_000,
  resets: FEW,
  provokedResets: FEW,
  junk: FEW,
  pings: FEW,
  maxControlFrames: 6,
};
