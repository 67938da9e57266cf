import { WITH_HEADERS } from '../harness/adapter-names.js';
import type { Pair } from '../harness/pair.js';
import { median, medianRatio } from '../harness/statistics.js';
import { higher, lower } from './workload.js';
import type { Workload } from './workload.js';

/** Enough requests to compile the code. The count matters, because on a busy machine time passes without work. */
const WARM = { ms: 1_500, atLeast: 10_000 };
const MEASURED_MS = 600;

export const sequential: Workload = {
  id: 'W1',
  title: 'requests one after the other',
  needs: {},
  metrics: [lower('p50Us', 'p50 µs'), lower('p99Us', 'p99 µs')],
  async run(pair, scale) {
    await warmUp(pair);
    await pair.task('sequential', { ms: WARM.ms * scale, atLeast: 500 });
    const { p50Us, p99Us } = await pair.task('sequential', { ms: MEASURED_MS * scale, atLeast: 1_000 });
    return { p50Us, p99Us };
  },
};

export function closedLoop(inFlight: number): Workload {
  return {
    id: `W2@${inFlight}`,
    title: `${inFlight} requests in flight`,
    needs: { streams: inFlight },
    metrics: [higher('perSecond', 'req/s'), lower('clientUs', 'client µs/req'), lower('serverUs', 'server µs/req')],
    async run(pair, scale) {
      await warmUp(pair, inFlight);
      const { perSecond, requests, cpu } = await pair.timed('closedLoop', { ms: MEASURED_MS * scale, atLeast: 10_000, inFlight });
      return { perSecond, clientUs: cpu.client / requests, serverUs: cpu.server / requests };
    },
  };
}

const TURNS = 3;

type Figure = 'perSecond' | 'clientUs' | 'serverUs';

/** The requests of {@link closedLoop} with a header, by turns with the same requests without it. */
export function withHeader(inFlight: number): Workload {
  return {
    id: `W2@${inFlight}-header`,
    title: `${inFlight} requests in flight, each with a header; × is the ratio to the same requests without it`,
    needs: { streams: inFlight },
    adapters: WITH_HEADERS,
    metrics: [
      higher('perSecond', 'req/s'),
      higher('perSecondRatio', 'req/s ×'),
      lower('clientUs', 'client µs/req'),
      lower('clientRatio', 'client ×'),
      lower('serverUs', 'server µs/req'),
      lower('serverRatio', 'server ×'),
    ],
    async run(pair, scale) {
      const measure = async (traced: boolean): Promise<Readonly<Record<Figure, number>>> => {
        const span = { ms: (MEASURED_MS * scale) / TURNS, atLeast: 10_000, inFlight, traced };
        const { perSecond, requests, cpu } = await pair.timed('closedLoop', span);
        return { perSecond, clientUs: cpu.client / requests, serverUs: cpu.server / requests };
      };
      await warmUp(pair, inFlight);
      await pair.task('closedLoop', { ...WARM, inFlight, traced: true });
      const turns: { readonly plain: Readonly<Record<Figure, number>>; readonly traced: Readonly<Record<Figure, number>> }[] = [];
      for (let turn = 0; turn < TURNS; turn++) turns.push({ plain: await measure(false), traced: await measure(true) });
      const figure = (key: Figure): number => median(turns.map(({ traced }) => traced[key]));
      const ratio = (key: Figure): number => medianRatio(turns.map(({ plain, traced }) => [traced[key], plain[key]]));
      return {
        perSecond: figure('perSecond'),
        perSecondRatio: ratio('perSecond'),
        clientUs: figure('clientUs'),
        clientRatio: ratio('clientUs'),
        serverUs: figure('serverUs'),
        serverRatio: ratio('serverUs'),
      };
    },
  };
}

/** Makes small requests until both ends have compiled the code for them. */
export async function warmUp(pair: Pair, inFlight = 16): Promise<void> {
  await pair.task('closedLoop', { ...WARM, inFlight });
}
