import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { asapScheduler, asyncScheduler, concatMap, delay, from, interval, of, queueScheduler, take, timer, toArray } from 'rxjs';
import type { Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { connect } from '../../src/index.js';
import { createPair, createServer, virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer-logs.js';

const logs = collectLogs();

describe('virtualTime', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  it('begins at 0 and stands still until it is advanced', async () => {
    await Promise.resolve();
    expect([time.now, asyncScheduler.now()]).toEqual([0, 0]);
    await time.advance(1_500);
    await time.advance(500);
    expect([time.now, asyncScheduler.now(), Date.now() > 2_000]).toEqual([2_000, 2_000, true]);
  });

  it('runs what is due in the order of its time, and of its making where the time is the same', async () => {
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

  it('runs what was scheduled on the way when its time comes', async () => {
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

  it('runs asap work ahead of timers, and in the same ms', async () => {
    const done: string[] = [];
    asyncScheduler.schedule(() => done.push('timer'));
    asapScheduler.schedule(() => done.push('asap'));
    queueScheduler.schedule(() => done.push('queue'));
    await time.advance();
    expect(done).toEqual(['queue', 'asap', 'timer']);
    expect(time.now).toBe(0);
  });

  it('repeats an interval', async () => {
    const done: number[] = [];
    interval(10)
      .pipe(take(3))
      .subscribe(() => done.push(time.now));
    await time.advance(100);
    expect(done).toEqual([10, 20, 30]);
  });

  it('runs an interval behind what else is due with its second run, and was set before its first', async () => {
    const done: string[] = [];
    interval(10)
      .pipe(take(2))
      .subscribe(() => done.push('interval'));
    timer(20).subscribe(() => done.push('timer'));
    await time.advance(20);
    expect(done).toEqual(['interval', 'timer', 'interval']);
  });

  it.each([2 ** 31, Infinity])('runs at once what is to wait %p ms, which no platform can count', async (ms) => {
    const done: string[] = [];
    asyncScheduler.schedule(() => done.push('too long'), ms);
    asyncScheduler.schedule(() => done.push('in 25 days'), 2 ** 31 - 1);
    await time.advance(1);
    expect(done).toEqual(['too long']);
  });

  it('runs nothing that was unsubscribed', async () => {
    const done: string[] = [];
    timer(10)
      .subscribe(() => done.push('timer'))
      .unsubscribe();
    asapScheduler.schedule(() => done.push('asap')).unsubscribe();
    await time.advance(100);
    expect(done).toEqual([]);
  });

  it('lets promises settle between two steps, however long their chain', async () => {
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

  it('takes promises that were there before it, and the work that follows', async () => {
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

  it('rejects with what a task throws, and can go on', async () => {
    const done: string[] = [];
    asyncScheduler.schedule(() => {
      throw new Error('in a timer');
    }, 10);
    asyncScheduler.schedule(() => done.push('next'), 20);
    await expect(time.advance(100)).rejects.toThrow('in a timer');
    await time.advance(100);
    expect(done).toEqual(['next']);
  });

  it('rejects with the error of an Observable that nobody handles', async () => {
    timer(10)
      .pipe(
        concatMap(() => {
          throw new Error('unhandled');
        }),
      )
      .subscribe();
    await expect(time.advance(10)).rejects.toThrow('unhandled');
  });

  it('never goes back, also where two advance it at once', async () => {
    await Promise.all([time.advance(100), time.advance(10)]);
    expect(time.now).toBe(100);
  });

  it.each([-1, Number.NaN, '10'])('rejects an advance by %p', async (ms) => {
    await expect(time.advance(ms as number)).rejects.toThrow(TypeError);
  });

  it('is one at a time', () => {
    expect(virtualTime).toThrow('restored');
    time.restore();
    time = virtualTime();
    expect(time.now).toBe(0);
  });

  it('refuses to begin inside TestScheduler.run', () => {
    time.restore();
    new TestScheduler(() => undefined).run(() => {
      expect(virtualTime).toThrow('restored');
    });
  });

  it('gives a peer its answers, deadlines and keepalive', async () => {
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

  it('carries a peer through half an hour of outages', async () => {
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
  it('gives back the clocks, the timers and the asap work', async () => {
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

  it('leaves alone the time that has been made virtual since', async () => {
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

  it('forgets what was still to come, so that later work is not held up by it', async () => {
    const time = virtualTime();
    const done: string[] = [];
    asapScheduler.schedule(() => done.push('asap'));
    asyncScheduler.schedule(() => done.push('timer'), 1);
    time.restore();
    await new Promise<void>((resolve) => asapScheduler.schedule(resolve));
    await new Promise<void>((resolve) => asyncScheduler.schedule(() => resolve(), 1));
    expect(done).toEqual([]);
  });

  it('leaves alone the timers that were real before', async () => {
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

  it('is not what clearing a real timer does', async () => {
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
