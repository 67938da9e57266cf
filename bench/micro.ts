// `npm run bench:micro` measures the parts on the way of a frame, each beside its least possible cost.
import { fromCommandLine, parseOptions } from './harness/command-line.js';
import { installPeers } from './harness/place.js';
import { figure, markdown } from './report/table.js';

fromCommandLine((args) => parseOptions(args, {}));
installPeers();
const { Bench } = await import('tinybench');
const { groups } = await import('./micro/cases.js');

const SAMPLING_MS = 300;

for (const { title, cases, times = 1 } of groups) {
  const bench = new Bench({ time: SAMPLING_MS, warmupTime: SAMPLING_MS / 3, throws: true });
  for (const { name, run } of cases)
    bench.add(
      name,
      times === 1
        ? run
        : () => {
            repeat(run, times);
          },
    );
  await bench.run();
  const nanoseconds = bench.tasks.map(({ result }) => ('latency' in result ? (result.latency.p50 * 1e6) / times : NaN));
  const rows = bench.tasks.map(({ name }, n) => {
    const took = nanoseconds[n] ?? NaN;
    return [name, figure(took), (took / (nanoseconds[0] ?? NaN)).toFixed(2)];
  });
  console.log(`${title}\n\n${markdown(['case', 'ns', 'ratio'], rows)}\n`);
}
// The peers in memory would keep the process alive.
process.exit();

function repeat(run: () => unknown, times: number): void {
  for (let n = 0; n < times; n++) run();
}
