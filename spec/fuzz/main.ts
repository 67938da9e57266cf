// Fuzzes the decoders of both codecs and the reassembly of frames for a bounded time.
// Its exit status is 0 only if it finds nothing.
//
// - npm run fuzz
// - npm run fuzz -- --seconds 10 --codec msgpack --seed 7
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seedsOf } from './corpus.js';
import { Coverage } from './coverage.js';
import { Fuzzer } from './fuzzer.js';
import type { Find } from './fuzzer.js';
import { growthsOf, riseOf, MOST_RISE } from './growth.js';
import type { Decoding } from './growth.js';
import { isGreedy, measure, measured } from './memory.js';
import type { Taken } from './memory.js';
import type { Input } from './mutate.js';
import { SUBJECTS, valuesOf } from './subjects.js';
import { TARGETS } from './targets.js';
import type { TargetName } from './targets.js';

const PROGRAM = fileURLToPath(import.meta.url);
const GUIDING = /^(src\/(codec|wire)|node_modules\/@msgpack)\//;
/** The share of mutation in the time of each codec. The rest measures time and memory. */
const MUTATING_SHARE = 0.7;
/** Enough to measure the memory of some inputs: a process has to start first. */
const LEAST_MEASURING_MS = 2_500;

type Name = keyof typeof SUBJECTS;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    codec: { type: 'string' },
    corpus: { type: 'string', default: 'spec' },
  },
});

if (positionals[0] === 'memory') await measure(Object.fromEntries(Object.entries(SUBJECTS).map(([name, { codec }]) => [name, codec])));
else process.exitCode = (await fuzzAll()) === 0 ? 0 : 1;

async function fuzzAll(): Promise<number> {
  const names = namesOf(values.codec);
  const seed = Number(values.seed);
  const seconds = Number(values.seconds) / names.length;
  if (!(seconds > 0) || !Number.isInteger(seed)) throw new TypeError(`expected --seconds above 0 and an integer as --seed`);
  console.log(`fuzz: seed ${seed}, ${seconds} s for each of ${names.join(' and ')}`);
  let finds = 0;
  for (const name of names) finds += await fuzzCodec(name, seconds, seed);
  console.log(finds === 0 ? 'fuzz: nothing found' : `fuzz: ${finds} found`);
  return finds;
}

async function fuzzCodec(name: Name, seconds: number, seed: number): Promise<number> {
  const seeds = seedsOf(SUBJECTS[name].codec, values.corpus, seed);
  const targets = Object.keys(TARGETS) as TargetName[];
  const mutatingMs = (seconds * 1_000 * MUTATING_SHARE) / targets.length;
  const costsMs = (seconds * 1_000 * (1 - MUTATING_SHARE)) / (targets.length - 1);
  let finds = 0;
  for (const target of targets) {
    const fuzzer = mutateFor(mutatingMs, name, target, seeds[target], seed);
    finds += report(name, target, fuzzer.finds);
    if (target !== 'reassemble') finds += report(name, target, await costsOf(fuzzer, name, target, costsMs));
  }
  return finds;
}

function mutateFor(ms: number, name: Name, target: TargetName, seeds: readonly Input[], seed: number): Fuzzer {
  const begun = performance.now();
  const guide = new Coverage(PROGRAM, GUIDING);
  const fuzzer = new Fuzzer({ ...SUBJECTS[name], target: TARGETS[target], seeds, seed, guide });
  while (performance.now() - begun < ms) fuzzer.step();
  guide.close();
  const rate = fuzzer.executions / ((performance.now() - begun) / 1_000);
  console.log(
    `${name} ${target}: ${fuzzer.executions} executions, ${rate.toFixed(0)}/s, ${seeds.length} seeds and ${fuzzer.discovered} inputs that reach more`,
  );
  return fuzzer;
}

/** Finds slow inputs of more than linear time, and decoding inputs that take too much memory. */
async function costsOf(fuzzer: Fuzzer, name: Name, target: Decoding['target'], ms: number): Promise<Find[]> {
  const decoding = { codec: SUBJECTS[name].codec, target };
  const finds: Find[] = [];
  const ends = performance.now() + ms / 2;
  const rises: number[] = [];
  for (const input of fuzzer.slowest) {
    if (performance.now() > ends) break;
    const rise = Math.max(...growthsOf(input[0] ?? Buffer.alloc(0), decoding).map((grow) => riseOf(grow, decoding)));
    rises.push(rise);
    if (rise > MOST_RISE) finds.push({ input, verdict: `expected linear time, got ${rise.toFixed(1)} times as much for each byte` });
  }
  const inputs = [...valuesOf(SUBJECTS[name]), ...fuzzer.slowest, ...[...fuzzer.pool].reverse()];
  const tasks = inputs.map(([bytes = Buffer.alloc(0)]) => ({ codec: name, target, base64: bytes.toString('base64') }));
  const taken = await measured(PROGRAM, tasks, Math.max(ms / 2, LEAST_MEASURING_MS));
  for (const [at, one] of taken.entries()) {
    const input = inputs[at];
    if (input !== undefined && isGreedy(one)) finds.push({ input, verdict: `expected little memory, got ${timesOf(one)} times the input` });
  }
  console.log(
    `${name} ${target}: of the slowest ${rises.length} the time per byte rises at most ${Math.max(0, ...rises).toFixed(1)} times from 8 to 256 KiB; ` +
      `${taken.length} inputs take at most ${Math.max(0, ...taken.map(timesOf))} times their bytes`,
  );
  return finds;
}

// Small inputs are within the slack, and prove nothing.
function timesOf({ inputBytes, takenBytes }: Taken): number {
  return inputBytes < 1_024 ? 0 : Math.round(takenBytes / inputBytes);
}

function report(name: Name, target: TargetName, finds: readonly Find[]): number {
  for (const { input, verdict } of finds) {
    console.log(`FOUND ${name} ${target}: ${verdict}`);
    console.log(`  ${JSON.stringify(input.map((bytes) => bytes.toString('base64')))}`);
  }
  return finds.length;
}

function namesOf(only: string | undefined): Name[] {
  const names = Object.keys(SUBJECTS) as Name[];
  const chosen = names.filter((name) => only === undefined || name === only);
  if (chosen.length === 0) throw new TypeError(`expected --codec to be one of ${names.join(', ')}, got ${String(only)}`);
  return chosen;
}
