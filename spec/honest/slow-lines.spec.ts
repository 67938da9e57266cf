import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, map, timer } from 'rxjs';
import { DEFAULT_LIMITS } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { machineTime } from '../support/honest/machine.js';
import { HonestWorld } from '../support/honest/world.js';
import type { DialOptions } from '../support/honest/world.js';
import { collectLogs } from '../support/peer/logs.js';

const time = machineTime();
const logs = collectLogs();

const KIB = 1_024;
const BYTES_PER_SECOND = 128 * KIB;
/** 0.5 Mbit/s. */
const UPLINK: DialOptions = { up: { bytesPerSecond: 62_500, latencyMs: 40 }, down: { latencyMs: 40 } };

/** Items of some size. Each begins with its place in the series. */
const item = (nth: number, bytes: number): string => `${nth} `.padEnd(bytes, 'x');
const placeOf = (value: string): number => Number(value.slice(0, value.indexOf(' ')));

describe('a stream as fast as it can be sent', () => {
  const [COUNT, SIZE] = [400, 32 * KIB];
  const fast: StreamHandler = (_payload, stream) => stream.sendAll(Array.from({ length: COUNT }, (_, nth) => item(nth, SIZE)));
  const seconds = (COUNT * SIZE) / BYTES_PER_SECOND;

  it('A fast stream arrives complete and in order over a line of 128 KiB a second', async () => {
    const world = new HonestWorld(time);
    const peer = world.dial(world.serve({ onStream: fast }), { down: { bytesPerSecond: BYTES_PER_SECOND, latencyMs: 40 } });
    const places: number[] = [];
    const done = lastValueFrom(peer.open$<string>('fast').pipe(map((value) => places.push(placeOf(value)))));
    await time.advance(2 * seconds * 1_000);
    expect(await done).toBe(COUNT);
    expect(places).toEqual(places.map((_, nth) => nth));
    expect(logs).toEqual({ warnings: [], errors: [] });
    await world.expectHonest();
  });

  it('A fast stream arrives complete and in order at a program that reads 128 KiB a second', async () => {
    const world = new HonestWorld(time);
    const peer = world.dial(world.serve({ onStream: fast }), { down: { latencyMs: 40 } });
    const places: number[] = [];
    const read = async (): Promise<void> => {
      for await (const value of peer.open<string>('fast', { end: true })) {
        places.push(placeOf(value));
        await firstValueFrom(timer((SIZE / BYTES_PER_SECOND) * 1_000));
      }
    };
    const done = read();
    await time.advance(2 * seconds * 1_000);
    await done;
    expect(places).toEqual(Array.from({ length: COUNT }, (_, nth) => nth));
    await world.expectHonest();
  });
});

describe('a line of half a megabit a second', () => {
  const collect: StreamHandler = async (_payload, stream) => {
    const sizes: number[] = [];
    for await (const value of stream) sizes.push(String(value).length);
    await stream.reply(sizes);
  };

  it.each<readonly [what: string, sizes: readonly number[]]>([
    ['one payload of nearly the maximum size', [DEFAULT_LIMITS.maxPayloadBytes - KIB]],
    ['a series of payloads', Array.from({ length: 60 }, (_, nth) => (nth + 1) * 8 * KIB)],
  ])('An upload of %s arrives over a slow line, however long it takes', async (_what, sizes) => {
    const world = new HonestWorld(time);
    const peer = world.dial(world.serve({ onStream: collect }), UPLINK);
    const upload = peer.open<number[], string>('upload');
    const answer = firstValueFrom(upload);
    void upload.sendAll(sizes.map((size) => item(0, size)));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    await time.advance((bytes / 62_500) * 1_000 * 1.2 + 10_000);
    expect(await answer).toEqual(sizes);
    await world.expectHonest();
  });

  it('One hundred concurrent uploads in interleaved fragments all arrive over a slow line', async () => {
    const world = new HonestWorld(time);
    const [uploads, bytes] = [100, 150 * KIB];
    const peer = world.dial(
      world.serve({ onStream: (payload, stream) => stream.reply([placeOf(String(payload)), String(payload).length]) }),
      UPLINK,
    );
    const answers = Promise.all(Array.from({ length: uploads }, (_, nth) => peer.request(item(nth, bytes), { timeoutMs: 0 })));
    await time.advance(((uploads * bytes) / 62_500) * 1_000 * 1.2);
    expect(await answers).toEqual(Array.from({ length: uploads }, (_, nth) => [nth, bytes]));
    await world.expectHonest();
  });
});

describe('small calls beside a big transfer', () => {
  /** The bytes that a small call waits behind where a wire leaves three slices of 48 KiB unanswered. */
  const REFERENCE_BYTES = 3 * 48 * KIB;

  /** Transfers a number of bytes once, and calls again and again meanwhile. Returns the time of the transfer and of the longest call, in ms. */
  async function beside(way: string, bytes: number, bytesPerMs: number, rttMs: number) {
    const world = new HonestWorld(time);
    const route = { bytesPerSecond: bytesPerMs * 1_000, latencyMs: rttMs / 2 };
    const big = item(0, bytes);
    const onStream: StreamHandler = (payload, stream) => stream.reply(payload === 'download' ? big : 'small');
    const peer = world.dial(world.serve({ onStream }), { up: route, down: route });
    const call = async (payload: unknown): Promise<number> => {
      const begun = time.now;
      await peer.request(payload, { timeoutMs: 0 });
      return time.now - begun;
    };
    const seen = { transferMs: 0, longestMs: 0 };
    void (async () => {
      seen.transferMs = await call(way === 'download' ? way : big);
    })();
    void (async () => {
      while (seen.transferMs === 0) {
        seen.longestMs = Math.max(seen.longestMs, await call('small'));
        await firstValueFrom(timer(20));
      }
    })();
    await time.advance((bytes / bytesPerMs) * 1.5 + 1_000);
    await world.expectHonest();
    return seen;
  }

  it.each(
    ['download', 'upload'].flatMap(
      (way) =>
        [
          [way, '256 kbit/s and 40 ms', 32, 40, 500_000],
          [way, '1 Mbit/s and 40 ms', 125, 40, 1_500_000],
          [way, '4 Mbit/s and 40 ms', 500, 40, 3_000_000],
          [way, '10 Mbit/s and 40 ms', 1_250, 40, 10_000_000],
        ] as const,
    ),
  )(
    'Beside a %s over a line of %s, a small call waits no longer than behind three slices of 48 KiB, or 0.25 s',
    async (way, _line, bytesPerMs, rttMs, bytes) => {
      const { transferMs, longestMs } = await beside(way, bytes, bytesPerMs, rttMs);
      expect(longestMs).toBeLessThanOrEqual(Math.max(REFERENCE_BYTES / bytesPerMs + rttMs, 250));
      expect(transferMs).toBeLessThan(1.02 * (bytes / bytesPerMs + rttMs));
    },
  );

  it('A line of 50 Mbit/s and 100 ms is full after five round trips, also for the first transfer of a connection', async () => {
    const [bytesPerMs, rttMs, bytes] = [6_250, 100, 15_000_000];
    const { transferMs } = await beside('download', bytes, bytesPerMs, rttMs);
    expect(transferMs).toBeLessThan(bytes / bytesPerMs + 3 * rttMs);
  });
});
