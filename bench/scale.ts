// `npm run bench:scale` measures what one connection and one message cost a server. docs/SCALE.md plans with these figures.
import { join } from 'node:path';
import { fromCommandLine, readQuick } from './harness/command-line.js';
import { ROOT } from './harness/place.js';
import { median } from './harness/statistics.js';
import { environment } from './report/results.js';
import { figure, markdown } from './report/table.js';
import { writeJson } from './report/write.js';
import { measureConnections, measureKeepalive, measurePresence } from './scale/measure.js';
import { serveMeasured } from './scale/served.js';

/** The program runs twice: a forked process is the server. */
if (process.send === undefined) await measure(fromCommandLine(readQuick));
else await serveMeasured(Number(process.argv[2]));

async function measure(isQuick: boolean): Promise<void> {
  const [connections, rounds] = isQuick ? [200, 1] : [2_000, 3];
  const measured: Record<string, number>[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push({
      ...(await measureConnections(connections)),
      ...(await measureKeepalive(connections)),
      ...(await measurePresence(connections)),
    });
  }
  const names = Object.keys(measured[0] ?? {});
  const figures = Object.fromEntries(
    names.map((name) => [name, Number(median(measured.map((round) => round[name] ?? NaN)).toPrecision(3))]),
  );
  console.log(
    markdown(
      ['figure', 'median'],
      names.map((name) => [name, figure(figures[name] ?? NaN)]),
    ),
  );
  if (!isQuick) await writeJson(join(ROOT, 'docs/benchmarks/scale.json'), { environment: environment(), connections, rounds, figures });
  process.exit();
}
