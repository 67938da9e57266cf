import { describe, expect, it, jest } from '@jest/globals';
import { GROUP } from '../../../src/transport/ws/write.js';
import type * as WriteTurn from '../../../src/transport/ws/write.js';
import { FakeStream } from '../../support/socket/pipe.js';

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
  return { ticks, joinTurn: module.joinTurn, WriteBatch: module.WriteBatch };
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
    for (const writer of [first, writing('second')]) joinTurn(writer);
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

  describe('behind a read', () => {
    /** A batch that has had a turn of one message, its ticks, and how many messages each write of it took. */
    async function lone() {
      const { ticks, WriteBatch } = await ticking();
      const sink = new FakeStream();
      const batchOver = (stream: FakeStream) => new WriteBatch(stream, { readyState: 1 }, false);
      const batch = batchOver(sink);
      const endTurns = (): void => {
        for (const tick of ticks.splice(0)) tick();
      };
      batch.add('a');
      endTurns();
      sink.forget();
      return { batch, batchOver, endTurns, ticks, writes: () => sink.writes.map((bytes) => bytes / 3) };
    }

    it('A lone message of each read is written at once, without a tick', async () => {
      const { batch, ticks, writes } = await lone();
      for (let n = 0; n < 3; n++) {
        batch.beginTurn();
        batch.add('a');
      }
      expect([writes(), ticks.length]).toEqual([[1, 1, 1], 0]);
    });

    it('More messages of a read wait for a tick, and so do all messages of the next read', async () => {
      const { batch, endTurns, ticks, writes } = await lone();
      batch.beginTurn();
      for (let n = 0; n < 4; n++) batch.add('a');
      expect([writes(), ticks.length]).toEqual([[1], 1]);
      endTurns();
      expect(writes()).toEqual([1, 3]);
      batch.beginTurn();
      batch.add('a');
      expect([writes(), ticks.length]).toEqual([[1, 3], 1]);
      endTurns();
      batch.beginTurn();
      batch.add('a');
      expect([writes(), ticks.length]).toEqual([[1, 3, 1, 1], 0]);
    });

    it('A message that waits for its tick stays in its turn when a read comes before the tick', async () => {
      const { batch, endTurns, ticks, writes } = await lone();
      for (let n = 0; n < 3; n++) batch.add('a');
      batch.beginTurn();
      batch.add('a');
      expect([writes(), ticks.length]).toEqual([[1], 1]);
      endTurns();
      expect(writes()).toEqual([1, 3]);
    });

    it.each<readonly [when: string, act: (one: Awaited<ReturnType<typeof lone>>) => void]>([
      ['no read began the turn', () => undefined],
      [
        'another socket has read since',
        ({ batch, batchOver }) => {
          batch.beginTurn();
          batchOver(new FakeStream()).beginTurn();
        },
      ],
      [
        'another socket has a message in the same turn',
        ({ batch, batchOver, ticks }) => {
          batch.beginTurn();
          batchOver(new FakeStream()).add('b');
          expect(ticks.length).toBe(1);
        },
      ],
    ])('A tick ends the turn of a lone message when %s', async (_when, act) => {
      const { batch, ticks, endTurns, ...one } = await lone();
      act({ batch, ticks, endTurns, ...one });
      batch.add('a');
      expect(ticks.length).toBe(1);
      endTurns();
      expect(one.writes()).toEqual([1]);
    });
  });
});
