import { describe, expect, it } from '@jest/globals';
import type { JsMsg, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { keptAll } from '../../src/nats/nats-quiet.js';

const UNLIMITED: Partial<StreamConfig> = { max_age: 0, max_bytes: -1, max_msgs: -1, max_msgs_per_subject: -1 };
const MINUTE_NS = 60_000_000_000;

function kept(limits: Partial<StreamConfig>, pending: number, oldestBeforeMs: number): boolean {
  const time = new Date('2026-01-01T00:01:00Z');
  const info = {
    config: { ...UNLIMITED, ...limits },
    state: { first_ts: new Date(time.getTime() - oldestBeforeMs).toISOString() },
  };
  return keptAll(info as StreamInfo, { info: { pending }, time } as JsMsg);
}

describe('a quiet subject of NATS', () => {
  it.each<readonly [Partial<StreamConfig>, number, number, boolean]>([
    [{}, 0, 0, true],
    [{ max_age: MINUTE_NS }, 0, 0, true],
    [{ max_age: MINUTE_NS / 10 }, 0, 20_000, false],
    [{ max_msgs: 10 }, 0, 20_000, true],
    [{ max_msgs: 10 }, 0, 9_000, false],
    [{ max_bytes: 10 }, 0, 20_000, true],
    [{ max_bytes: 10 }, 0, 9_000, false],
    [{ max_msgs_per_subject: 10 }, 8, 0, true],
    [{ max_msgs_per_subject: 10 }, 9, 0, false],
    [{ max_msgs_per_subject: 1 }, 0, 0, false],
  ])(
    'With %j, %i waiting messages and an oldest one %i ms before, a quiet subject has kept all: %s',
    (limits, pending, before, expected) => {
      expect(kept(limits, pending, before)).toBe(expected);
    },
  );
});
