// `npm run bench` runs the workloads over the adapters, prints the results, and keeps them.
import { join, relative } from 'node:path';
import { growConnections } from './growth/connections.js';
import type { ConnectionsPoint } from './growth/connections.js';
import { growStreams } from './growth/streams.js';
import type { StreamsPoint } from './growth/streams.js';
import { fromCommandLine } from './harness/command-line.js';
import { installPeers, ROOT } from './harness/place.js';
import { Worker } from './harness/process.js';
import { randomFrom } from './harness/random.js';
import { runRounds } from './harness/rounds.js';
import type { Reading } from './harness/rounds.js';
import { readOptions } from './options.js';
import { browserPage } from './report/browser-page.js';
import { keepComparison } from './report/keep-comparison.js';
import { page } from './report/page.js';
import { environment, versions } from './report/results.js';
import type { Results } from './report/results.js';
import { writeJson, writeText } from './report/write.js';
import type { BundleSize } from './workloads/bundle.js';

const options = fromCommandLine((args) => readOptions(args, ROOT));
const { adapters, workloads } = options;
Worker.profiles = options.profile;

if (options.browser) {
  const { benchBrowser } = await import('./browser/run.js');
  const results = await benchBrowser(options);
  const text = browserPage(results, workloads);
  console.log(text);
  if (options.out !== null) {
    await writeJson(join(options.out, 'browser.json'), results);
    writeText(join(options.out, 'browser.md'), text);
  }
} else await bench();

async function bench(): Promise<void> {
  if (options.needsPeers) installPeers();
  const readings: Reading[] = [];
  for await (const reading of runRounds({ ...options, random: randomFrom(options.seed) })) {
    readings.push(reading);
    progress(`round ${reading.round + 1} of ${options.rounds}, ${reading.workload}, ${reading.adapter}`, reading.error);
  }
  const results: Results = {
    seed: options.seed,
    environment: environment(),
    versions: versions(),
    readings,
    bundles: options.bundles ? await bundles() : [],
    streams: await grownStreams(),
    connections: await grownConnections(),
  };
  console.log(page(results, workloads, adapters, []));
  if (options.out !== null) await keep(results, options.out);
}

async function keep(results: Results, directory: string): Promise<void> {
  const { drawPlots } = await import('./report/plots.js');
  const plots = await drawPlots(results, workloads, adapters);
  await writeJson(join(directory, 'results.json'), results);
  for (const [file, svg] of plots) writeText(join(directory, file), svg);
  writeText(join(directory, 'README.md'), page(results, workloads, adapters, [...plots.keys()]));
  // A part of the workloads, or of the other libraries, says too little for the first page.
  if (directory === join(ROOT, 'docs/benchmarks')) await keepComparison(results);
  progress(`written to ${relative(ROOT, directory)}`);
}

async function bundles(): Promise<BundleSize[]> {
  const { bundleSizes } = await import('./workloads/bundle.js');
  return bundleSizes();
}

async function grownStreams(): Promise<StreamsPoint[]> {
  const points: StreamsPoint[] = [];
  for (const { adapter, counts, ms } of options.growth.streams)
    points.push(...(await measured(`live streams, ${adapter}`, () => growStreams(adapter, counts, ms))));
  return points;
}

async function grownConnections(): Promise<ConnectionsPoint[]> {
  const points: ConnectionsPoint[] = [];
  for (const { adapter, counts } of options.growth.connections)
    points.push(...(await measured(`idle connections, ${adapter}`, () => growConnections(adapter, counts))));
  return points;
}

/** A failure leaves no points, and the other adapters still get their turn. */
async function measured<T>(title: string, measure: () => Promise<T[]>): Promise<T[]> {
  try {
    const points = await measure();
    progress(title);
    return points;
  } catch (error) {
    progress(title, error instanceof Error ? error.message : String(error));
    return [];
  }
}

function progress(title: string, error?: string): void {
  process.stderr.write(`${title}${error === undefined ? '' : `: ${error}`}\n`);
  if (error !== undefined) process.exitCode = 1;
}
