import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Message } from '../../src/wire/codec.js';
import { encodedLength } from '../../src/wire/length.js';
import { growthsOf } from './growth.js';
import type { Decoding } from './growth.js';
import { outcomeOf } from './oracle.js';
import { messageOf } from './subjects.js';

/**
 * The memory that one byte of input may take. The costliest are an empty map and empty bytes.
 * An empty map of 1 byte takes an object of 56 bytes and its place in an array.
 * Empty bytes of 2 bytes take a view and a buffer of 190.
 */
const MOST_PER_BYTE = 100;
const SLACK_BYTES = 1024 * 1024;
/** Inputs grow to this size, far beyond the slack. */
const GROWN_BYTES = 128 * 1024;
/** A decoder that reserves memory by a declared length exceeds this heap. */
const HEAP_MB = 128;

/** The task of the child process, in a line. */
export interface MemoryTask extends Pick<Decoding, 'target'> {
  readonly codec: string;
  readonly base64: string;
}

/** The answer of the child: the memory that the greediest form of the input has taken, and the size of the form. */
export interface Taken {
  readonly inputBytes: number;
  readonly takenBytes: number;
}

export function isGreedy({ inputBytes, takenBytes }: Taken): boolean {
  return !(takenBytes <= MOST_PER_BYTE * inputBytes + SLACK_BYTES);
}

/**
 * Measures inputs in child processes with a small heap, as many as fit into `ms`. An input that kills its process has taken
 * Infinity.
 */
export async function measured(program: string, tasks: readonly MemoryTask[], ms: number): Promise<Taken[]> {
  const taken: Taken[] = [];
  const ends = performance.now() + ms;
  while (taken.length < tasks.length) {
    const child = spawn(process.execPath, ['--expose-gc', `--max-old-space-size=${HEAP_MB}`, program, 'memory'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const limit = setTimeout(() => child.kill('SIGKILL'), ends - performance.now());
    const left = tasks.slice(taken.length);
    // A dead child accepts no more.
    child.stdin.on('error', () => undefined);
    child.stdin.end(left.map((task) => `${JSON.stringify(task)}\n`).join(''));
    for await (const line of createInterface({ input: child.stdout })) taken.push(JSON.parse(line) as Taken);
    clearTimeout(limit);
    if (performance.now() >= ends) break;
    if (taken.length < tasks.length) taken.push({ inputBytes: GROWN_BYTES, takenBytes: Infinity });
  }
  return taken;
}

/** The child: it reads tasks and writes answers. It writes each answer before it begins the next task. */
export async function measure(codecs: Readonly<Record<string, Decoding['codec']>>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { codec: name, target, base64 } = JSON.parse(line) as MemoryTask;
    const codec = codecs[name];
    if (codec === undefined) throw new Error(`expected one of ${Object.keys(codecs).join(', ')}, got ${name}`);
    process.stdout.write(`${JSON.stringify(greediestOf(Buffer.from(base64, 'base64'), { codec, target }))}\n`);
  }
}

export function greediestOf(input: Buffer, decoding: Decoding): Taken {
  const forms = [messageOf(input, decoding.codec), ...growthsOf(input, decoding).map((grow) => grow(GROWN_BYTES))];
  const all = forms.map((message) => ({ inputBytes: encodedLength(message), takenBytes: takenBy(message, decoding) }));
  return all.find(isGreedy) ?? all.reduce((a, b) => (a.takenBytes / a.inputBytes > b.takenBytes / b.inputBytes ? a : b));
}

/** Holds the decoded values until they are measured. */
const kept: unknown[] = [];

function takenBy(message: Message, { codec, target }: Decoding): number {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('expected a process that was started with --expose-gc');
  gc();
  const before = process.memoryUsage();
  kept.push(outcomeOf(() => codec[target](message)));
  gc();
  const after = process.memoryUsage();
  kept.length = 0;
  return after.heapUsed + after.external - before.heapUsed - before.external;
}
