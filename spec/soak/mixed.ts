import { connect, serve } from 'rxmux/node';
import { growthBetween, lookAtHeap } from './growth.js';
import type { Growth } from './growth.js';
import { heapUsed } from './heap.js';
import type { SoakOptions, SoakPart } from './part.js';
import { slopeOf } from './slope.js';
import type { Sample } from './slope.js';
import { answer, ROUND } from './traffic.js';

const MINUTE_MS = 60_000;
const QUICK_MINUTES = 0.45;
const SAMPLES = 60;
/** The share of the run in which code is compiled and pools are filled. */
const WARM_UP = 1 / 6;
/** A slope is a leak when it is both steep and more than noise. */
const MOST_BYTES_PER_MINUTE = 64 * 1_024;
/** A process this young still compiles, so half a minute shows only what leaks fast. */
const MOST_BYTES_PER_MINUTE_QUICK = 5 * 1_024 * 1_024;
const MOST_STANDARD_ERRORS = 3;

/** Makes every kind of call for the given time. Neither the heap nor a class of objects may grow with the rounds. */
export const mixed: SoakPart = async (options) => {
  const { samples, rounds, growth } = await traffic(options);
  const { slope, standardError, t } = slopeOf(samples);
  const figures =
    `${rounds} rounds of ${ROUND.length} kinds of call, ${samples.length} samples; ` +
    `heap ${Math.round(slope)} ± ${Math.round(standardError)} bytes a minute, t = ${t.toFixed(1)}; objects ${signed(growth.objects)}`;
  if (growth.classes.length > 0) return { figures, fault: `expected no class to grow with the rounds, got ${growth.classes.join(', ')}` };
  const most = options.quick ? MOST_BYTES_PER_MINUTE_QUICK : MOST_BYTES_PER_MINUTE;
  const leaks = slope > most && t > MOST_STANDARD_ERRORS;
  return { figures, fault: leaks ? `expected a slope of at most ${most} bytes a minute, got ${Math.round(slope)}` : null };
};

async function traffic({ quick, minutes }: SoakOptions): Promise<{ samples: Sample[]; rounds: number; growth: Growth }> {
  const lengthMs = (quick ? QUICK_MINUTES : minutes) * MINUTE_MS;
  const server = serve({ port: 0, host: '127.0.0.1', handler: answer });
  const { port } = await server.listening;
  const peer = connect(`ws://127.0.0.1:${port}`, { reconnect: { minDelayMs: 1, maxDelayMs: 10 } });
  await peer.opened;
  const began = performance.now();
  let rounds = 0;
  const playUntil = async (share: number): Promise<void> => {
    do {
      for (const kind of ROUND) await kind(peer, rounds);
      rounds++;
    } while (performance.now() - began < share * lengthMs);
  };
  await playUntil(WARM_UP);
  const [before, warmRounds] = [lookAtHeap(), rounds];
  // Two lists of numbers. A list of samples would consist of objects, which the growth would count.
  const times: number[] = [];
  const heaps: number[] = [];
  for (let nth = 1; nth <= SAMPLES; nth++) {
    await playUntil(WARM_UP + ((1 - WARM_UP) * nth) / SAMPLES);
    times.push((performance.now() - began) / MINUTE_MS);
    heaps.push(await heapUsed());
  }
  const growth = await growthBetween(before, lookAtHeap(), rounds - warmRounds);
  await peer.close();
  await server.close();
  return { samples: heaps.map((y, nth) => ({ x: times[nth] ?? 0, y })), rounds, growth };
}

function signed(count: number): string {
  return count > 0 ? `+${count}` : String(count);
}
