import { REFERENCE } from '../harness/adapter-names.js';
import type { AdapterName } from '../harness/adapter-names.js';
import type { Metric, Workload } from '../workloads/workload.js';
import { dotPlot, linePlot } from './plot.js';
import type { Results } from './results.js';
import { summarize } from './summary.js';

/** Every plot of a run, by the name of its file. */
export async function drawPlots(
  results: Results,
  workloads: readonly Workload[],
  adapters: readonly AdapterName[],
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const workload of workloads) {
    const others = adapters.filter((name) => name !== REFERENCE && results.readings.some((reading) => reading.adapter === name));
    const points = workload.metrics.flatMap((metric) => others.map((name) => ratioPoint(results, workload, metric, name)));
    const drawn = points.filter(({ y }) => Number.isFinite(y) && y > 0);
    if (drawn.length > 0)
      files.set(
        `${workload.id.replace('@', '-')}.svg`,
        await dotPlot({ title: `${workload.id}: ${workload.title}`, x: `ratio to ${REFERENCE}`, y: '', points: drawn, logX: true }),
      );
  }
  const { streams, connections } = results;
  if (streams.length > 0) {
    const points = streams.flatMap(({ adapter, streams: x, clientUs, serverUs }) => [
      { series: `${adapter}, client`, x, y: clientUs },
      { series: `${adapter}, server`, x, y: serverUs },
    ]);
    const titles = { title: 'CPU per request beside live streams', x: 'live streams', y: 'µs per request' };
    files.set('growth-streams.svg', await linePlot({ ...titles, points, logX: true }));
  }
  if (connections.length > 0) {
    const points = connections.flatMap(({ adapter, connections: x, clientBytes, serverBytes }) => [
      { series: `${adapter}, client`, x, y: clientBytes / 1e6 },
      { series: `${adapter}, server`, x, y: serverBytes / 1e6 },
    ]);
    files.set('growth-connections.svg', await linePlot({ title: 'Memory of idle connections', x: 'connections', y: 'MB of heap', points }));
  }
  return files;
}

function ratioPoint(results: Results, workload: Workload, { key, title, better }: Metric, name: AdapterName) {
  const { ratio } = summarize(results.readings, workload.id, name, key, REFERENCE);
  return { series: name, x: `${title} (${better === 'higher' ? '↑' : '↓'})`, y: ratio };
}
