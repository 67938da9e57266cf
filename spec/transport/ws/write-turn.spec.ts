import { describe, expect, it, jest } from '@jest/globals';
import { GROUP } from '../../../src/transport/ws/write.js';
import type * as WriteTurn from '../../../src/transport/ws/write.js';

/** The module with ticks that the test runs. */
async function ticking() {
  const ticks: (() => void)[] = [];
  const later = (task: (...given: unknown[]) => void, ...args: unknown[]): void => {
    ticks.push(() => {
      task(...args);
    });
  };
  const nextTick = process.nextTick.bind(process);
  process.nextTick = later;
  let module: typeof WriteTurn | undefined;
  await jest.isolateModulesAsync(async () => {
    module = await import('../../../src/transport/ws/write.js');
  });
  process.nextTick = nextTick;
  if (module === undefined) throw new Error('expected the module');
  return { ticks, joinTurn: module.joinTurn };
}

describe('The end of a turn', () => {
  it('One tick ends the turn of all writers, in order, and a writer that comes meanwhile has the next tick', async () => {
    const { ticks, joinTurn } = await ticking();
    const ended: string[] = [];
    const writing = (name: string) => ({ flush: () => undefined, endTurn: () => ended.push(name) });
    const late = writing('late');
    const first = {
      flush: () => undefined,
      endTurn: () => {
        ended.push('first');
        joinTurn(late);
      },
    };
    expect([first, writing('second')].map(joinTurn)).toEqual([true, false]);
    expect(ticks.length).toBe(1);
    ticks[0]?.();
    expect([ended, ticks.length]).toEqual([['first', 'second'], 2]);
    ticks[1]?.();
    expect(ended).toEqual(['first', 'second', 'late']);
  });

  it('A writer that throws keeps no other writer from its turn, and its error is thrown in a tick of its own', async () => {
    const { ticks, joinTurn } = await ticking();
    const ended: string[] = [];
    const failing = (): never => {
      throw new Error('of a stream');
    };
    for (const writer of [
      { flush: failing, endTurn: failing },
      { flush: () => undefined, endTurn: () => ended.push('second') },
    ])
      joinTurn(writer);
    ticks[0]?.();
    expect([ended, ticks.length]).toEqual([['second'], 2]);
    expect(ticks[1]).toThrow('of a stream');
  });

  it('A full group of writers writes before the next writer joins, and a writer of it that throws fails no other', async () => {
    const { ticks, joinTurn } = await ticking();
    const flushed: number[] = [];
    const flush = (nth: number): void => {
      flushed.push(nth);
      if (nth === 1) throw new Error('of a stream');
    };
    const join = (nth: number): void => {
      joinTurn({
        flush: () => {
          flush(nth);
        },
        endTurn: () => undefined,
      });
    };
    const [first, second, rest] = [0, GROUP, 2 * GROUP].map((from) => Array.from({ length: GROUP }, (_, n) => from + n));
    first?.forEach(join);
    expect(flushed).toEqual([]);
    second?.forEach(join);
    expect(flushed).toEqual(first);
    rest?.slice(0, 1).forEach(join);
    expect(flushed).toEqual([...(first ?? []), ...(second ?? [])]);
    expect(ticks.length).toBe(2);
    expect(ticks[1]).toThrow('of a stream');
  });
});
