import { interval, map } from 'rxjs';
import type { InspectorFeed, InspectorLine } from 'rxmux/inspect';

const EVERY_MS = 50;
const LANES = 64;
/** The frames of one stream. */
const FRAMES = 12;

/** A feed on 64 streams at a time, to see how fast the page draws. */
export function busy(framesASecond: number): InspectorFeed {
  const perBatch = (framesASecond * EVERY_MS) / 1_000;
  const began = performance.now();
  const peer = { c: 1, name: 'Peer 1', isDialer: true, state: 'open', reconnects: 0, rttMs: 5, bufferedAmount: 0 };
  return () =>
    interval(EVERY_MS).pipe(
      map((batch) => ({
        at: performance.now() - began,
        lines: Array.from({ length: perBatch }, (_, index) =>
          lineOf(batch * perBatch + index, batch * EVERY_MS + (index / perBatch) * EVERY_MS),
        ),
        dropped: 0,
        peers: [peer],
      })),
    );
}

/** Each lane has its streams one after the other: an open, data from the acceptor, and its end. */
function lineOf(index: number, t: number): InspectorLine {
  const turn = Math.floor(index / LANES);
  const stream = 2 * ((index % LANES) + LANES * Math.floor(turn / FRAMES)) + 1;
  const step = turn % FRAMES;
  const b = 50 + ((index * 37) % 900);
  if (step === 0) return { v: 1, t, c: 1, d: '>', b, n: `call ${index % 8}`, f: { type: 'open', stream, end: true } };
  return { v: 1, t, c: 1, d: '<', b, f: { type: 'data', stream, payload: null, end: step === FRAMES - 1 } };
}
