import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import { AnswerHold, MEASURED_BYTES } from '../../../src/connection/budget.js';
import { ReadBackpressure } from '../../../src/connection/budget.js';
import { ReceiveBudget } from '../../../src/connection/budget.js';
import { Holdings } from '../../../src/stream/receiving.js';
import { StreamTable } from '../../../src/connection/connection.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import type { Limits } from '../../../src/wire/limits.js';
import { ScriptedTransport } from '../../support/socket/scripted-transport.js';
import { Rig } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

type Step = 'handlerStarted' | 'handlerSettled' | 'close' | 'awaitReset' | 'resetWritten';

/** The holdings of one stream, on a connection of its own. */
function holding(given: Partial<Limits> = { maxHeldBytes: 100 }) {
  const limits = resolveLimits(given);
  const pongs: unknown[] = [];
  const hold = new AnswerHold({ pong: (nonce) => pongs.push(nonce), signOfLife: () => undefined }, limits.pauseMs);
  const budget = new ReceiveBudget(limits, new ReadBackpressure(new ScriptedTransport(), limits.pauseMs), hold);
  const streams = new StreamTable(true, 1);
  const resets: string[] = [];
  const stream = { closed: false, cause: null, reset: (...[, , reason]: readonly unknown[]) => resets.push(String(reason)) };
  const host = { codec: new JsonCodec(), receiveBudget: budget, streams, arrivedBytes: 0, noted: (reason: string) => reason };
  const holdings = new Holdings(stream, host);
  const step = (name: Step): void => {
    if (name === 'close') stream.closed = true;
    holdings[name]();
  };
  return { holdings, budget, hold, pongs, streams, stream, resets, step };
}

/** The number of occupied places after each step: 1 while the place is kept. */
function occupancy(steps: readonly Step[]): number[] {
  const { holdings, streams, step } = holding();
  holdings.takePlace();
  return steps.map((name) => {
    step(name);
    return streams.occupied;
  });
}

describe('the place of a stream', () => {
  it.each<[string, readonly Step[], readonly number[]]>([
    ['until the stream closes, without a handler', ['close'], [0]],
    ['until the stream closes, after its handler has settled', ['handlerStarted', 'handlerSettled', 'close'], [1, 1, 0]],
    ['until the handler has settled, after the stream has closed', ['handlerStarted', 'close', 'handlerSettled'], [1, 1, 0]],
    ['until the reset is written', ['awaitReset', 'close', 'resetWritten'], [1, 1, 0]],
    [
      'until the reset is written, after the handler has settled',
      ['handlerStarted', 'awaitReset', 'close', 'handlerSettled', 'resetWritten'],
      [1, 1, 1, 1, 0],
    ],
    [
      'until the handler has settled, after the reset is written',
      ['handlerStarted', 'awaitReset', 'close', 'resetWritten', 'handlerSettled'],
      [1, 1, 1, 1, 0],
    ],
    ['until the stream closes, after the reset is written', ['awaitReset', 'resetWritten', 'close'], [1, 1, 0]],
    ['until the stream closes, even if a handler starts later', ['close', 'handlerStarted', 'handlerSettled'], [0, 0, 0]],
    ['until the stream closes, and is freed only once', ['close', 'close', 'handlerSettled', 'resetWritten'], [0, 0, 0, 0]],
  ])('A stream keeps its place %s', (_what, steps, occupied) => {
    expect(occupancy(steps)).toEqual(occupied);
  });

  it('`isRunning` is true from the start of the handler until it has settled', () => {
    const { holdings, step } = holding();
    const seen = (name: Step): boolean => {
      step(name);
      return holdings.isRunning;
    };
    expect(holdings.isRunning).toBe(false);
    expect([seen('handlerStarted'), seen('close'), seen('handlerSettled')]).toEqual([true, true, false]);
    expect(seen('handlerStarted')).toBe(false);
  });

  it('A place is no stream of the table', () => {
    const { holdings, streams } = holding();
    holdings.takePlace();
    expect([streams.occupied, streams.size, streams.values()]).toEqual([1, 0, []]);
  });
});

describe('the unread bytes of a stream', () => {
  it('Holdings count a payload until it is read, and reset the stream for a payload over the limit', () => {
    const { holdings, budget, resets } = holding();
    expect([holdings.keep(60), holdings.keep(60)]).toEqual([true, false]);
    expect([budget.held.used, resets]).toEqual([60, [expect.stringContaining('maxHeldBytes')]]);
    holdings.read(60);
    expect([holdings.keep(60), budget.held.used]).toEqual([true, 60]);
  });

  it('Holdings release their bytes at the end of the stream, and count no later payload', () => {
    const { holdings, budget, step } = holding();
    holdings.keep(60);
    step('close');
    holdings.release();
    expect([budget.held.used, holdings.keep(1_000), budget.held.used]).toEqual([0, true, 0]);
    holdings.handOver();
    holdings.read(1_000);
    expect(budget.held.used).toBe(0);
  });

  it('Holdings count handed-over payloads until they are read', () => {
    const { holdings, budget, step } = holding();
    holdings.keep(60);
    holdings.handOver();
    step('close');
    holdings.release();
    expect(budget.held.used).toBe(60);
    holdings.read(60);
    expect(budget.held.used).toBe(0);
  });

  it('Holdings of a stream that has ended count nothing', () => {
    const { budget, streams } = holding();
    const stream = { closed: true, cause: { how: 'ended' } as const, reset: () => undefined };
    const host = { codec: new JsonCodec(), receiveBudget: budget, streams, arrivedBytes: 0, noted: (reason: string) => reason };
    expect([new Holdings(stream, host).keep(1_000), budget.held.used]).toEqual([true, 0]);
  });
});

describe('ended streams', () => {
  it('Session ends a stream whose unread payloads were handed over while there were none', () => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    stream.held.handOver();
    rig.send(stream, { end: true });
    expect([stream.ends, rig.session.receiveBudget.held.used]).toEqual([[{ how: 'ended' }], 0]);
  });

  it.each([
    ['a reader remains', true, 100],
    ['no reader remains', false, 0],
  ])('An ended stream keeps its unread bytes counted only if a reader remains: %s', (_what, isRead, held) => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    stream.live.handlerStarted();
    stream.held.keep(100);
    stream.onGone = () => {
      if (isRead) stream.held.handOver();
      stream.live.handlerSettled();
    };
    rig.send(stream, { end: true });
    expect([stream.live.phase, rig.session.receiveBudget.held.used]).toEqual(['closed', held]);
    stream.held.read(100);
    expect(rig.session.receiveBudget.held.used).toBe(0);
  });
});

describe('payloads that wait for a reader', () => {
  it.each([
    ['keeps them all, and grants nothing', 4, 0],
    ['keeps three of four, and grants one', 3, 1],
  ])('A reader %s', (_what, kept, grants) => {
    inTime(() => {
      const { holdings, budget, hold, pongs } = holding({ pauseBytes: MEASURED_BYTES });
      for (let n = 0; n < 4; n++) holdings.keep(MEASURED_BYTES);
      for (let n = 1; n <= 4; n++) hold.pinged(String(n), n * MEASURED_BYTES);
      holdings.passing(() => {
        for (let n = 0; n < 4; n++) {
          holdings.read(MEASURED_BYTES);
          if (n < kept) holdings.keep(MEASURED_BYTES);
        }
      });
      expect([pongs.length, budget.held.used]).toEqual([grants, kept * MEASURED_BYTES]);
      holdings.close();
    })();
  });

  it('A reader that ends the stream leaves nothing counted', () => {
    const { holdings, budget, step } = holding();
    holdings.keep(10);
    holdings.passing(() => {
      holdings.read(10);
      step('close');
      holdings.release();
    });
    expect(budget.held.used).toBe(0);
  });
});
