import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, timer } from 'rxjs';
import type { Peer } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { machineTime } from '../support/honest/machine.js';
import { HonestWorld } from '../support/honest/world.js';
import type { DialOptions } from '../support/honest/world.js';

const time = machineTime();
const logs = collectLogs();

const KIB = 1_024;
const MIB = KIB * KIB;
const PIECE = 64 * KIB;
const PIECES = 160;
/** The line is faster than every reader here. */
const LINE: DialOptions = { up: { latencyMs: 5 }, down: { bytesPerSecond: 100 * MIB, latencyMs: 5 } };
const PAGE: DialOptions = { ...LINE, up: { ...LINE.up, pausable: false } };
const IDLE_CALL_MS = 10;

const wait = (ms: number): Promise<unknown> => firstValueFrom(timer(ms));

/** A server that sends pieces as fast as they leave, and answers other calls at once. */
function dialed(options: DialOptions, world = new HonestWorld(time)) {
  const onStream: Parameters<Peer['onStream']>[0] = (payload, stream) =>
    payload === 'pieces' ? stream.sendAll(Array.from({ length: PIECES }, () => 'x'.repeat(PIECE))) : stream.reply(payload);
  const peer = world.dial(world.serve({ onStream }), options);
  let arrived = 0;
  peer.onFrame((direction, { fragment }) => {
    if (direction === 'rx' && fragment !== null) arrived += String(fragment).length;
  });
  return { world, peer, arrived: () => arrived };
}

/** Reads every piece with `for await`; `before` runs ahead of each one. */
async function readSlowly({ peer, arrived }: ReturnType<typeof dialed>, before: (nth: number) => Promise<unknown>) {
  const read = { pieces: 0, mostUnread: 0, done: false };
  for await (const piece of peer.open<string>('pieces', { end: true })) {
    await before(read.pieces++);
    read.mostUnread = Math.max(read.mostUnread, arrived() - read.pieces * piece.length);
  }
  read.done = true;
  return read;
}

/** Calls again and again until `reading` settles. Returns the longest wait, in ms. */
async function callMeanwhile(peer: Peer, reading: Promise<unknown>): Promise<number> {
  const state = { done: false, longest: 0 };
  void reading.finally(() => (state.done = true));
  while (!state.done) {
    const begun = time.now;
    await peer.request('small', { timeoutMs: 0 });
    state.longest = Math.max(state.longest, time.now - begun);
    await wait(7);
  }
  return state.longest;
}

describe('a reader that is slower than its sender', () => {
  it('A page that reads 12 MiB a second receives everything, and holds 4 MiB at most, while its calls wait for 20 ms at most', async () => {
    const dial = dialed(PAGE);
    const reading = readSlowly(dial, () => wait(PIECE / ((12 * MIB) / 1_000)));
    const calling = callMeanwhile(dial.peer, reading);
    await time.advance(5_000);
    const { pieces, mostUnread } = await reading;
    expect(pieces).toBe(PIECES);
    expect(mostUnread).toBeLessThanOrEqual(4 * MIB);
    expect(await calling).toBeLessThanOrEqual(2 * IDLE_CALL_MS);
    expect(logs).toEqual({ warnings: [], errors: [] });
    await dial.world.expectHonest();
  });

  it.each([
    ['on Node', LINE],
    ['in a page', PAGE],
  ])('A reader %s that stands still for 2.5 s makes no other call of its connection wait', async (_where, options) => {
    const dial = dialed(options);
    const reading = readSlowly(dial, (nth) => (nth === 20 ? wait(2_500) : Promise.resolve()));
    const calling = callMeanwhile(dial.peer, reading);
    await time.advance(5_000);
    expect((await reading).pieces).toBe(PIECES);
    expect(await calling).toBeLessThanOrEqual(2 * IDLE_CALL_MS);
    await dial.world.expectHonest();
  });

  it('A reader in a page that takes 20 KiB a second receives everything', async () => {
    const dial = dialed(PAGE);
    const reading = readSlowly(dial, (nth) => wait(nth < 40 ? PIECE / 20.48 : 0));
    await time.advance(150_000);
    expect((await reading).pieces).toBe(PIECES);
    await dial.world.expectHonest();
  });

  it('A reader in a page that stands still for longer than `pauseMs` is reset with FLOW_CONTROL', async () => {
    const dial = dialed(PAGE);
    const reading = readSlowly(dial, (nth) => (nth === 20 ? wait(10_000) : Promise.resolve()));
    const failing = expect(reading).rejects.toMatchObject({ code: 'RESET', resetCode: 3 });
    await time.advance(15_000);
    await failing;
    await dial.world.expectHonest({ punishments: { 'dialer reset FLOW_CONTROL': 1 } });
  });

  it.each([
    ['20 s', {}],
    ['50 ms', { keepalive: { idleMs: 50, timeoutMs: 1_500 } }],
  ])('A sender whose keepalive waits for %s does not take a slow reader for a dead remote', async (_what, options) => {
    const world = new HonestWorld(time);
    const server = world.serve({
      ...options,
      onStream: (_payload, stream) => stream.sendAll(Array.from({ length: PIECES }, () => 'x'.repeat(PIECE))),
    });
    const peer = world.dial(server, PAGE);
    const iterator = peer.open('pieces', { end: true })[Symbol.asyncIterator]();
    const read = async (): Promise<number> => {
      let pieces = 0;
      while ((await iterator.next()).done !== true) if (pieces++ % 100 === 50) await wait(4_500);
      return pieces;
    };
    const reading = read();
    await time.advance(30_000);
    expect(await reading).toBe(PIECES);
    await world.expectHonest();
  });
});
