import { describe, expect, it } from '@jest/globals';
import { BYTES_PER_PING } from '../../../src/connection/inbound.js';
import { BULK_FRAME_BYTES, LONE_WINDOW_BYTES } from '../../../src/connection/bulk-window.js';
import { answer, countOf, pull, turns } from '../../support/session/paced.js';
import { Rig } from '../../support/session/rig.js';
import type { Holder } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const SMALL = 'x'.repeat(1_000);
const MANY = (2 * LONE_WINDOW_BYTES) / SMALL.length;

/** Just no bulk. A ping follows two of them while other pings have no answer. */
const HALF = 'x'.repeat(BULK_FRAME_BYTES - '""'.length - 1);

/** Values that a source pushes, more of them than what one turn sends. */
function push(rig: Rig, stream: Holder): void {
  for (let n = 0; n < MANY; n++) rig.send(stream, { payload: SMALL });
}

/** A stream beside one whose values wait. */
function besideMany() {
  const rig = new Rig();
  const [many, other] = [rig.open(), rig.open()];
  pull(rig, many, SMALL);
  turns(rig, 50);
  rig.forget();
  return { rig, other };
}

const bytesOf = (rig: Rig, stream: Holder): number => countOf(rig.sent, stream) * SMALL.length;

describe('many small values of one source', () => {
  it.each<[string, (rig: Rig, stream: Holder) => void]>([
    ['pulled', (rig, stream) => pull(rig, stream, SMALL)],
    ['pushed', push],
  ])('Values that are %s wait once 1.5 MiB are unanswered, and continue with the pong', (_how, begin) => {
    inTime(() => {
      const rig = new Rig();
      const stream = rig.open();
      begin(rig, stream);
      turns(rig, 50);
      expect(bytesOf(rig, stream)).toBeGreaterThan(LONE_WINDOW_BYTES - BYTES_PER_PING);
      expect(bytesOf(rig, stream)).toBeLessThan(LONE_WINDOW_BYTES + 2 * BYTES_PER_PING);
      const before = countOf(rig.sent, stream);
      turns(rig, 50);
      expect(countOf(rig.sent, stream)).toBe(before);
      answer(rig);
      turns(rig, 50);
      expect(countOf(rig.sent, stream)).toBeGreaterThan(before);
    })();
  });

  it(
    'Two streams of pulled values share the window',
    inTime(() => {
      const rig = new Rig();
      const streams = [rig.open(), rig.open()];
      for (const stream of streams) pull(rig, stream, SMALL);
      turns(rig, 100);
      const bytes = streams.map((stream) => bytesOf(rig, stream));
      expect(Math.min(...bytes)).toBeGreaterThan(BYTES_PER_PING);
      expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(LONE_WINDOW_BYTES + 3 * BYTES_PER_PING);
    }),
  );

  it(
    'A stream that sends now and then leaves at once while such values wait, also right ahead of a ping',
    inTime(() => {
      const { rig, other } = besideMany();
      for (let sent = 1; sent <= 100; sent++) {
        rig.send(other, { payload: SMALL });
        turns(rig, 1);
        expect(countOf(rig.sent, other)).toBe(sent + 1);
      }
      expect(rig.news.some(({ type }) => type === 'ping')).toBe(true);
      expect(rig.connection.outbound.window?.holds(other)).toBe(false);
    }),
  );

  it.each([
    ['a value that others follow', false, true],
    ['the last value of its stream', true, false],
  ])('Right ahead of a ping leaves %s: the stream waits then', (_what, end, waits) => {
    inTime(() => {
      const { rig, other } = besideMany();
      expect(other.live.hasDemand).toBe(true);
      rig.send(other, { payload: HALF });
      expect(rig.news.at(-1)?.type).toBe('data');
      rig.send(other, { payload: HALF, end });
      expect(rig.news.at(-1)?.type).toBe('ping');
      expect(rig.connection.outbound.window?.holds(other)).toBe(waits);
    })();
  });
});
