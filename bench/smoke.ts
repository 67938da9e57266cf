// `npm run bench:smoke` checks the ratios to floor A against baseline.json, beside the same wire written by hand. The file holds a
// recording for each kind of machine; `-- --record` writes the recording of this machine.
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { REFERENCE } from './harness/adapter-names.js';
import type { AdapterName } from './harness/adapter-names.js';
import { fromCommandLine, parseOptions } from './harness/command-line.js';
import { machineTime, stolenShare } from './harness/machine-time.js';
import { checkTypes, installPeers, ROOT } from './harness/place.js';
import { randomFrom } from './harness/random.js';
import { runRounds } from './harness/rounds.js';
import type { Reading } from './harness/rounds.js';
import { isStarved, nearest, regressions } from './harness/verdict.js';
import type { Baseline, Ratios, Recording, Regression } from './harness/verdict.js';
import { summarize } from './report/summary.js';
import { workloadTable } from './report/table.js';
import { writeJson } from './report/write.js';
import { workloads } from './workloads/index.js';
import type { Metric } from './workloads/workload.js';

const SUBJECT: AdapterName = 'rxmux-json';
/** This adapter shows how much of a worse ratio the machine explains. */
const BY_HAND: AdapterName = 'bare-wire';
const WORKLOADS = ['W2@64', 'W3'];
const ALLOWANCE = 0.25;
const SCALE = 0.5;
/** With fewer rounds, one bad round could move the median. */
const FEWEST_ROUNDS = 5;
/** A suspected regression is measured again, up to so many rounds, and while no more than so many ms have passed. */
const MOST_ROUNDS = 15;
const PATIENCE_MS = 90_000;
/**
 * A round counts where the host of a virtual machine has stolen at most this share of its time. Stolen time slows the larger
 * program more. The run waits longer for five such rounds. After that, the rounds with the least stolen time make up the number.
 */
const MOST_STOLEN = 0.01;
const MOST_PATIENCE_MS = 180_000;
const BASELINE = join(ROOT, 'bench/baseline.json');

const PROCESSOR = cpus()[0]?.model ?? 'unknown';

const values = fromCommandLine((args) =>
  parseOptions(args, { record: { type: 'boolean', default: false }, 'no-types': { type: 'boolean', default: false } }),
);
if (!existsSync(BASELINE) && !values.record)
  throw new Error('expected bench/baseline.json: on a quiet machine, record it by `npm run bench:smoke -- --record`');
const measured = workloads.filter(({ id }) => WORKLOADS.includes(id));
/** The readings of the rounds that count. */
const readings: Reading[] = [];
const robbed: { readonly stolen: number; readonly readings: readonly Reading[] }[] = [];

if (!values['no-types']) {
  installPeers();
  if (!checkTypes()) process.exit(1);
}

const begun = performance.now();
const plan = { adapters: [REFERENCE, BY_HAND, SUBJECT], workloads: measured, scale: SCALE, random: randomFrom(1), rounds: Infinity };
const perRound = plan.adapters.length * measured.length;
let round: Reading[] = [];
let roundBegan = machineTime();
for await (const reading of runRounds(plan)) {
  if (reading.error !== undefined) throw new Error(reading.error);
  round.push(reading);
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
const unjudged = measured.filter(({ id }) => !isQuiet(id)).map(({ id }) => id);
if (unjudged.length > 0)
  console.log(`others kept the machine busy: what got done in a second is not judged for ${unjudged.join(' and ')}, CPU is`);
if (values.record) {
  if (honestRounds < FEWEST_ROUNDS || unjudged.length > 0)
    throw new Error('a baseline is recorded on a machine that has nothing else to do');
  const others = recordings().filter(({ processor }) => processor !== PROCESSOR);
  await writeJson(BASELINE, [...others, { processor: PROCESSOR, ...recording() }]);
} else {
  const worse = worsened();
  console.log(`compared with the recording of ${nearest(recordings(), recording().byHand).processor}`);
  for (const { workload, metric, recorded, measured: now, machine } of worse)
    console.error(
      `${workload} ${metric}: the ratio to ${REFERENCE} was ${recorded.toFixed(2)} and is ${now.toFixed(2)}; ` +
        `what the machine made worse: ${((machine - 1) * 100).toFixed(0)} %`,
    );
  console.log(`${readings.length / perRound} rounds, ${worse.length} ratios worse by more than ${ALLOWANCE * 100} %`);
  process.exitCode = worse.length === 0 ? 0 : 1;
}

function isEnough(rounds: number): boolean {
  const spentMs = performance.now() - begun;
  if (rounds < FEWEST_ROUNDS) return spentMs > MOST_PATIENCE_MS && rounds + robbed.length >= FEWEST_ROUNDS;
  if (spentMs > PATIENCE_MS || rounds >= MOST_ROUNDS) return true;
  // A baseline is worth all the rounds that the time allows.
  return !values.record && worsened().length === 0;
}

/** Rounds of a workload in which the reference had a core for each of its processes. */
function quietRounds(id: string): readonly number[] {
  const references = readings.filter(({ workload, adapter }) => workload === id && adapter === REFERENCE);
  return references.filter(({ figures }) => !isStarved(figures)).map(({ round }) => round);
}

function isQuiet(id: string): boolean {
  return quietRounds(id).length >= FEWEST_ROUNDS;
}

function worsened(): Regression[] {
  const judged = measured.map(({ id, metrics }) => ({ id, metrics: metrics.filter(({ better }) => better === 'lower' || isQuiet(id)) }));
  const now = recording();
  return regressions(judged, nearest(recordings(), now.byHand), now, ALLOWANCE);
}

function recordings(): readonly Baseline[] {
  return existsSync(BASELINE) ? (JSON.parse(readFileSync(BASELINE, 'utf8')) as readonly Baseline[]) : [];
}

function recording(): Recording {
  return { library: ratiosOf(SUBJECT), byHand: ratiosOf(BY_HAND) };
}

function ratiosOf(adapter: AdapterName): Ratios {
  return Object.fromEntries(
    measured.map(({ id, metrics }) => {
      const quiet = quietRounds(id);
      const ratioOf = ({ key, better }: Metric): number => {
        const counted = better === 'lower' ? readings : readings.filter(({ round }) => quiet.includes(round));
        return Number(summarize(counted, id, adapter, key, REFERENCE).ratio.toFixed(3));
      };
      return [id, Object.fromEntries(metrics.map((metric) => [metric.key, ratioOf(metric)]))];
    }),
  );
}
