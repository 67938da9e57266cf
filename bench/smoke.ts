// `npm run bench:smoke` checks the ratios to the same wire written by hand against baseline.json. The file holds a recording for each
// kind of processor and version of Node; `-- --record` writes the recording of this one.
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { AdapterName } from './harness/adapter-names.js';
import { fromCommandLine, parseOptions } from './harness/command-line.js';
import { machineTime, stolenShare } from './harness/machine-time.js';
import { checkTypes, installPeers, ROOT } from './harness/place.js';
import { randomFrom } from './harness/random.js';
import { runRounds } from './harness/rounds.js';
import type { Reading } from './harness/rounds.js';
import { comparable, isStarved, regressions } from './harness/verdict.js';
import type { Ratios, Recording, Regression } from './harness/verdict.js';
import { summarize } from './report/summary.js';
import { workloadTable } from './report/table.js';
import { writeJson } from './report/write.js';
import { workloads } from './workloads/index.js';
import { lower } from './workloads/workload.js';
import type { Metric, Workload } from './workloads/workload.js';

const SUBJECT: AdapterName = 'rxmux-json';
/** Other guests of a host slow this program as much as the library. They slow floor A less, because it waits for the kernel. */
const REFERENCE: AdapterName = 'bare-wire';
const WORKLOADS = ['W2@64', 'W3'];
/**
 * The CPU of both ends. The CPU of one end changes with how many frames the other writes at once. In two processes other programs change
 * that, too, so that on a busy machine only the figure of one process is judged.
 */
const BOTH_ENDS = 'cpuUs';
/** The metrics that are recorded and judged. */
const JUDGED: readonly string[] = ['perSecond', BOTH_ENDS];
const ALLOWANCE = 0.25;
const SCALE = 0.5;
/** With fewer rounds, one bad round could move the median. */
const FEWEST_ROUNDS = 5;
/** The most rounds, and the most ms, for which a suspected regression is measured again. */
const MOST_ROUNDS = 15;
const PATIENCE_MS = 240_000;
/**
 * A round counts where the host of a virtual machine has stolen at most this share of its time. Stolen time slows the larger
 * program more. Where there are too few such rounds at the end of the patience, those with the least stolen time make up the number.
 */
const MOST_STOLEN = 0.01;
const BASELINE = join(ROOT, 'bench/baseline.json');

const HERE = { processor: cpus()[0]?.model ?? 'unknown', node: Number.parseInt(process.versions.node) };

const values = fromCommandLine((args) =>
  parseOptions(args, { record: { type: 'boolean', default: false }, 'no-types': { type: 'boolean', default: false } }),
);
if (!existsSync(BASELINE) && !values.record)
  throw new Error('expected bench/baseline.json: on a quiet machine, record it by `npm run bench:smoke -- --record`');
const measured = workloads
  .filter(({ id }) => WORKLOADS.includes(id))
  .flatMap((workload) => [
    { ...workload, metrics: [...workload.metrics, lower(BOTH_ENDS, 'µs of both')] },
    { ...workload, id: `${workload.id} in one process`, metrics: [lower(BOTH_ENDS, 'µs of both')], inOneProcess: true },
  ]);
/** The readings of the rounds that count. */
const readings: Reading[] = [];
const robbed: { readonly stolen: number; readonly readings: readonly Reading[] }[] = [];

if (!values['no-types']) {
  installPeers();
  if (!checkTypes()) process.exit(1);
}

const begun = performance.now();
const plan = { adapters: [REFERENCE, SUBJECT], workloads: measured, scale: SCALE, random: randomFrom(1), rounds: Infinity };
const perRound = plan.adapters.length * measured.length;
let round: Reading[] = [];
let roundBegan = machineTime();
for await (const reading of runRounds(plan)) {
  if (reading.error !== undefined) throw new Error(reading.error);
  round.push(withBothEnds(reading));
  if (round.length < perRound) continue;
  const now = machineTime();
  const stolen = stolenShare(roundBegan, now);
  if (stolen > MOST_STOLEN) robbed.push({ stolen, readings: round });
  else readings.push(...round);
  [round, roundBegan] = [[], now];
  if (isEnough(readings.length / perRound)) break;
}
const honestRounds = readings.length / perRound;
robbed.sort((one, other) => one.stolen - other.stolen);
const leastRobbed = robbed.slice(0, Math.max(0, FEWEST_ROUNDS - honestRounds));
readings.push(...leastRobbed.flatMap((each) => each.readings));

for (const workload of measured) console.log(`${workloadTable(workload, readings, plan.adapters, REFERENCE)}\n`);
if (robbed.length > 0)
  console.log(
    `the host took more than ${MOST_STOLEN * 100} % of the machine's time in ${robbed.length} rounds, of which ${leastRobbed.length} count`,
  );
const unjudged = measured.filter((workload) => !isJudged(workload)).map(({ id }) => id);
if (unjudged.length > 0) console.log(`others kept the machine busy: ${unjudged.join(' and ')} are judged in one process alone`);
if (values.record) {
  if (honestRounds < FEWEST_ROUNDS || unjudged.length > 0)
    throw new Error('a baseline is recorded on a machine that has nothing else to do');
  const others = recordings().filter(({ processor, node }) => processor !== HERE.processor || node !== HERE.node);
  await writeJson(BASELINE, [...others, { ...HERE, ratios: ratios() }]);
} else {
  const worse = worsened();
  for (const { workload, metric, recorded, measured: now } of worse)
    console.error(`${workload} ${metric}: the ratio to ${REFERENCE} was ${recorded.toFixed(2)} and is ${now.toFixed(2)}`);
  console.log(`${readings.length / perRound} rounds, ${worse.length} ratios worse by more than ${ALLOWANCE * 100} %`);
  process.exitCode = worse.length === 0 ? 0 : 1;
}

function withBothEnds(reading: Reading): Reading {
  const { clientUs = NaN, serverUs = NaN } = reading.figures;
  return { ...reading, figures: { ...reading.figures, [BOTH_ENDS]: clientUs + serverUs } };
}

function isEnough(rounds: number): boolean {
  const isLate = performance.now() - begun > PATIENCE_MS;
  if (rounds < FEWEST_ROUNDS) return isLate && rounds + robbed.length >= FEWEST_ROUNDS;
  if (isLate || rounds >= MOST_ROUNDS) return true;
  // A baseline is worth all the rounds that the time allows.
  return !values.record && worsened().length === 0;
}

/** Rounds that say something about a workload: in one process all, and else those in which the reference had a core for each process. */
function countedRounds({ id, inOneProcess }: Workload): readonly number[] {
  const references = readings.filter(({ workload, adapter }) => workload === id && adapter === REFERENCE);
  return references.filter(({ figures }) => inOneProcess === true || !isStarved(figures)).map(({ round }) => round);
}

function isJudged(workload: Workload): boolean {
  return countedRounds(workload).length >= FEWEST_ROUNDS;
}

/** Where there are several recordings to compare with, the kindest counts. */
function worsened(): Regression[] {
  const judged = measured.filter(isJudged).map(({ id, metrics }) => ({ id, metrics: metrics.filter(({ key }) => JUDGED.includes(key)) }));
  const now = ratios();
  const [kindest = []] = comparable(recordings(), HERE)
    .map((recording) => regressions(judged, recording.ratios, now, ALLOWANCE))
    .sort((one, other) => one.length - other.length);
  return kindest;
}

function recordings(): readonly Recording[] {
  return existsSync(BASELINE) ? (JSON.parse(readFileSync(BASELINE, 'utf8')) as readonly Recording[]) : [];
}

function ratios(): Ratios {
  return Object.fromEntries(
    measured.map((workload) => {
      const rounds = countedRounds(workload);
      const counted = readings.filter(({ round }) => rounds.includes(round));
      const ratioOf = ({ key }: Metric): number => Number(summarize(counted, workload.id, SUBJECT, key, REFERENCE).ratio.toFixed(3));
      const recorded = workload.metrics.filter(({ key }) => JUDGED.includes(key));
      return [workload.id, Object.fromEntries(recorded.map((metric) => [metric.key, ratioOf(metric)]))];
    }),
  );
}
