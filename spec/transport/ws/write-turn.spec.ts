import { describe, expect, it, jest } from '@jest/globals';
import type * as WriteTurn from '../../../src/transport/ws/write-turn.js';

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
    module = await import('../../../src/transport/ws/write-turn.js');
  });
  process.nextTick = nextTick;
  if (module === undefined) throw new Error('expected the module');
  return { ticks, endWithTurn: module.endWithTurn };
}

describe('The end of a turn', () => {
  it('One tick ends the turn of all writers, in order, and a writer that comes meanwhile has the next tick', async () => {
    const { ticks, endWithTurn } = await ticking();
    const ended: string[] = [];
    const late = { endTurn: () => ended.push('late') };
    const first = {
      endTurn: () => {
        ended.push('first');
        endWithTurn(late);
      },
    };
    for (const writer of [first, { endTurn: () => ended.push('second') }]) endWithTurn(writer);
    expect(ticks.length).toBe(1);
    ticks[0]?.();
    expect([ended, ticks.length]).toEqual([['first', 'second'], 2]);
    ticks[1]?.();
    expect(ended).toEqual(['first', 'second', 'late']);
  });

  it('A writer that throws keeps no other writer from its turn, and its error is thrown in a tick of its own', async () => {
    const { ticks, endWithTurn } = await ticking();
    const ended: string[] = [];
    const broken = {
      endTurn: () => {
        throw new Error('of a stream');
      },
    };
    for (const writer of [broken, { endTurn: () => ended.push('second') }]) endWithTurn(writer);
    ticks[0]?.();
    expect([ended, ticks.length]).toEqual([['second'], 2]);
    expect(ticks[1]).toThrow('of a stream');
  });
});
