import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { asapScheduler, asyncScheduler, concatMap, delay, from, interval, of, queueScheduler, take, timer, toArray } from 'rxjs';
import type { Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { connect } from '../../src/index.js';
import { createPair, createServer, virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';

const logs = collectLogs();

describe('virtualTime', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  it('Virtual time begins at 0 and stands still until it is advanced', async () => {
    await Promise.resolve();
    expect([time.now, asyncScheduler.now()]).toEqual([0, 0]);
    await time.advance(1_500);
    await time.advance(500);
    expect([time.now, asyncScheduler.now(), Date.now() > 2_000]).toEqual([2_000, 2_000, true]);
  });

  it('Virtual time runs tasks in order of their time, and of their scheduling at equal times', async () => {
    const done: string[] = [];
    for (const [name, ms] of [
      ['c', 30],
      ['a', 10],
      ['d', 30],
      ['b', 20],
      ['late', 31],
    ] as const)
      asyncScheduler.schedule(() => done.push(`${name} at ${time.now}`), ms);
    await time.advance(30);
    expect(done).toEqual(['a at 10', 'b at 20', 'c at 30', 'd at 30']);
    await time.advance(1);
    expect(done).toHaveLength(5);
  });

  it('Virtual time runs tasks that were scheduled on the way at their time', async () => {
    const done: number[] = [];
    timer(10)
      .pipe(
        concatMap(() => timer(10)),
        concatMap(() => timer(10)),
      )
      .subscribe(() => done.push(time.now));
    await time.advance(29);
    expect(done).toEqual([]);
    await time.advance(1);
    expect(done).toEqual([30]);
  });

  it('Virtual time runs asap work before timers, in the same ms', async () => {
    const done: string[] = [];
    asyncScheduler.schedule(() => done.push('timer'));
    asapScheduler.schedule(() => done.push('asap'));
    queueScheduler.schedule(() => done.push('queue'));
    await time.advance();
    expect(done).toEqual(['queue', 'asap', 'timer']);
    expect(time.now).toBe(0);
  });

  it('Virtual time repeats an interval', async () => {
    const done: number[] = [];
    interval(10)
      .pipe(take(3))
      .subscribe(() => done.push(time.now));
    await time.advance(100);
    expect(done).toEqual([10, 20, 30]);
  });

  it("Virtual time runs an interval's second run after a task that was set before its first and is due then", async () => {
    const done: string[] = [];
    interval(10)
      .pipe(take(2))
      .subscribe(() => done.push('interval'));
    timer(20).subscribe(() => done.push('timer'));
    await time.advance(20);
    expect(done).toEqual(['interval', 'timer', 'interval']);
  });

  it.each([2 ** 31, Infinity])('Virtual time runs a task with a delay of %p ms at once, as platforms do', async (ms) => {
    const done: string[] = [];
    asyncScheduler.schedule(() => done.push('too long'), ms);
    asyncScheduler.schedule(() => done.push('in 25 days'), 2 ** 31 - 1);
    await time.advance(1);
    expect(done).toEqual(['too long']);
  });

  it('Virtual time runs no unsubscribed task', async () => {
    const done: string[] = [];
    timer(10)
      .subscribe(() => done.push('timer'))
      .unsubscribe();
    asapScheduler.schedule(() => done.push('asap')).unsubscribe();
    await time.advance(100);
    expect(done).toEqual([]);
  });

  it('Promises settle between two steps of virtual time, however long their chain', async () => {
    const done: string[] = [];
    const chain = async (): Promise<void> => {
      for (let step = 0; step < 1_000; step++) await Promise.resolve();
      done.push('chain');
    };
    asyncScheduler.schedule(() => void chain(), 10);
    asyncScheduler.schedule(() => done.push('timer'), 10);
    await time.advance(10);
    expect(done).toEqual(['chain', 'timer']);
  });

  it('Virtual time waits for promises from before it, and runs the work that follows them', async () => {
    const all = from(Promise.resolve([1, 2, 3])).pipe(
      concatMap((values) => from(values)),
      delay(1_000),
      toArray(),
    );
    let seen: number[] | null = null;
    all.subscribe((values) => (seen = values));
    await time.advance(1_000);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('An advance rejects with the error of a task, and the next one continues', async () => {
    const done: string[] = [];
    asyncScheduler.schedule(() => {
      throw new Error('in a timer');
    }, 10);
    asyncScheduler.schedule(() => done.push('next'), 20);
    await expect(time.advance(100)).rejects.toThrow('in a timer');
    await time.advance(100);
    expect(done).toEqual(['next']);
  });

  it('An advance rejects with the unhandled error of an Observable', async () => {
    timer(10)
      .pipe(
        concatMap(() => {
          throw new Error('unhandled');
        }),
      )
      .subscribe();
    await expect(time.advance(10)).rejects.toThrow('unhandled');
  });

  it('Virtual time never goes back, even when two advances overlap', async () => {
    await Promise.all([time.advance(100), time.advance(10)]);
    expect(time.now).toBe(100);
  });

  it.each([-1, Number.NaN, '10'])('`advance` rejects for %p', async (ms) => {
    await expect(time.advance(ms as number)).rejects.toThrow(TypeError);
  });

  it('`virtualTime` throws while another virtual time is not restored', () => {
    expect(virtualTime).toThrow('restored');
    time.restore();
    time = virtualTime();
    expect(time.now).toBe(0);
  });

  it('`virtualTime` throws inside TestScheduler.run', () => {
    time.restore();
    new TestScheduler(() => undefined).run(() => {
      expect(virtualTime).toThrow('restored');
    });
  });

  it("Virtual time drives a peer's answers, deadlines and keepalive", async () => {
    const { dialer, acceptor } = createPair({ latencyMs: 400, dialer: { keepalive: {} } });
    const pings: number[] = [];
    acceptor.frames$.subscribe(({ frame }) => frame.type === 'ping' && pings.push(time.now));
    acceptor.onStream((payload, stream) => (payload === 'x' ? stream.reply('y') : new Promise(() => undefined)));
    const answer = dialer.request('x');
    const late = dialer.request('never', { timeoutMs: 5_000 });
    late.catch(() => undefined);
    await time.advance(800);
    expect(await answer).toBe('y');
    await time.advance(4_200);
    await expect(late).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await time.advance(60_000);
    expect(pings.length).toBeGreaterThan(1);
  });

  it('Virtual time carries a peer through half an hour of outages', async () => {
    const server = createServer({ onStream: (payload, stream) => stream.reply(payload) });
    const peer = connect('ws://test', { socket: server.socket, reconnect: true });
    for (let minute = 0; minute < 30; minute++) {
      server.refuse(503);
      server.link?.cut();
      await time.advance(30_000);
      server.refuse(null);
      await time.advance(30_000);
      const answer = peer.request(minute);
      await time.advance();
      expect(await answer).toBe(minute);
    }
    expect(time.now).toBe(30 * 60_000);
    // For each outage the first dial that failed, and the one that opened.
    expect(logs.warnings).toHaveLength(60);
  });
});

describe('virtualTime.restore', () => {
  it('`restore` returns the real clocks, timers and asap work', async () => {
    const time = virtualTime();
    time.restore();
    time.restore();
    const before = Date.now();
    const now = asyncScheduler.now();
    expect([before <= now, now <= Date.now()]).toEqual([true, true]);
    const asap = new Promise<string>((resolve) => asapScheduler.schedule(() => resolve('asap')));
    const async = new Promise<string>((resolve) => of('async').pipe(delay(1)).subscribe(resolve));
    expect(await Promise.all([asap, async])).toEqual(['asap', 'async']);
  });

  it('`restore` leaves a later virtual time alone', async () => {
    const before = virtualTime();
    before.restore();
    const time = virtualTime();
    before.restore();
    const done: number[] = [];
    timer(1_000_000).subscribe(() => done.push(time.now));
    await time.advance(1_000_000);
    time.restore();
    expect(done).toEqual([1_000_000]);
  });

  it('`restore` drops pending tasks, so that later tasks run in real time', async () => {
    const time = virtualTime();
    const done: string[] = [];
    asapScheduler.schedule(() => done.push('asap'));
    asyncScheduler.schedule(() => done.push('timer'), 1);
    time.restore();
    await new Promise<void>((resolve) => asapScheduler.schedule(resolve));
    await new Promise<void>((resolve) => asyncScheduler.schedule(() => resolve(), 1));
    expect(done).toEqual([]);
  });

  it('`restore` leaves the timers alone that were real before', async () => {
    const done: string[] = [];
    const outcomes: Subscription[] = [];
    outcomes.push(asyncScheduler.schedule(() => done.push('kept'), 1));
    outcomes.push(asyncScheduler.schedule(() => done.push('cleared'), 1));
    outcomes.push(asapScheduler.schedule(() => done.push('asap cleared')));
    const time = virtualTime();
    outcomes[1]?.unsubscribe();
    outcomes[2]?.unsubscribe();
    time.restore();
    await new Promise<void>((resolve) => asyncScheduler.schedule(() => resolve(), 1));
    expect(done).toEqual(['kept']);
  });

  it('Clearing a real timer does not end virtual time', async () => {
    const real = [asyncScheduler.schedule(() => undefined, 1), asapScheduler.schedule(() => undefined)];
    const time = virtualTime();
    for (const each of real) each.unsubscribe();
    const done: string[] = [];
    timer(1_000_000).subscribe(() => done.push('timer'));
    asapScheduler.schedule(() => done.push('asap'));
    await time.advance(1_000_000);
    time.restore();
    expect(done).toEqual(['asap', 'timer']);
  });
});
