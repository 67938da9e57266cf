import { ANSWERING } from '../harness/adapter-names.js';
import type { AnsweredBy } from '../harness/adapter.js';
import type { Pair } from '../harness/pair.js';
import { higher, lower } from './workload.js';
import type { Workload } from './workload.js';

const WARM_ITEMS = 20_000;
/** An engine that has compiled code for a stream that only goes on compiles anew once the stream has ended. */
const WARM_RUNS = 10;
const METRICS = [higher('perSecond', 'items/s'), lower('clientUs', 'client µs/item'), lower('serverUs', 'server µs/item')];

export const oneStream = serverStreams('W3', 1, 200_000);
export const manyStreams = serverStreams('W4', 1_000, 100);

/** {@link manyStreams}, answered in the other ways that a handler of rxmux has. */
export const otherAnswers: readonly Workload[] = [
  answered('generator', 'async generators'),
  answered('observable', 'Observables'),
  answered('send', 'loops of `send`'),
];

function answered(by: AnsweredBy, title: string): Workload {
  const workload = serverStreams(`W4@${by}`, 1_000, 100, by);
  return { ...workload, title: `${workload.title}, answered by ${title}`, adapters: ANSWERING };
}

function serverStreams(id: string, count: number, items: number, by: AnsweredBy = 'iterable'): Workload {
  return {
    id,
    title: `${count} ${count === 1 ? 'stream' : 'streams'} of ${items} items`,
    needs: { streams: count },
    metrics: METRICS,
    async run(pair, scale) {
      await warmUpStreams(pair, count, by);
      const measured = await pair.timed('streams', { streams: count, items: Math.ceil(items * scale), by });
      const { perSecond, cpu } = measured;
      return { perSecond, clientUs: cpu.client / measured.items, serverUs: cpu.server / measured.items };
    },
  };
}

/** Reads streams until both ends have compiled the code for them. */
export async function warmUpStreams(pair: Pair, count: number, by: AnsweredBy = 'iterable'): Promise<void> {
  for (let n = 0; n < WARM_RUNS; n++) await pair.task('streams', { streams: count, items: Math.ceil(WARM_ITEMS / count), by });
}
