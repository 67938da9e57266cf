import { expect, it } from '@jest/globals';
import { OverflowBuffer } from '../../../src/stream/feed.js';
import type { Outlet, Overflow } from '../../../src/stream/feed.js';

/** An outlet whose room the test sets. */
class Waiting implements Outlet {
  readonly closed = false;
  readonly queues = false;
  readonly full = false;
  hasRoom = false;
  readonly sent: unknown[] = [];
  readonly tasks: (() => void)[] = [];

  get hasDemand(): boolean {
    return this.hasRoom;
  }

  whenRoom(task: () => void): void {
    this.tasks.push(task);
  }

  whenDemand(task: () => void): void {
    this.whenRoom(task);
  }

  send(value: unknown): void {
    this.sent.push(value);
  }

  complete(): void {
    this.sent.push('complete');
  }

  fail(): never {
    throw new Error('expected no failure');
  }

  overflow(): never {
    throw new Error('expected room');
  }
}

it.each<[Overflow, readonly number[]]>([
  ['buffer', [1, 2, 3, 4]],
  ['latest', [4]],
  [{ dropOldest: 2 }, [3, 4]],
])('OverflowBuffer with overflow %j waits for room once, and then sends the kept values', (overflow, kept) => {
  const outlet = new Waiting();
  const buffer = new OverflowBuffer(outlet, overflow);
  for (let value = 1; value <= 4; value++) buffer.next(value);
  buffer.complete();
  expect([outlet.tasks.length, outlet.sent]).toEqual([1, []]);
  outlet.hasRoom = true;
  outlet.tasks[0]?.();
  expect(outlet.sent).toEqual([...kept, 'complete']);
});
