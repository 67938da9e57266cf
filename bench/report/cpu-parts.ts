import type { FunctionTime } from '../harness/cpu-times.js';

/** A part of the cost of a request. */
export interface CpuPart {
  readonly title: string;
  readonly us: number;
}

type Rule = readonly [title: string, holds: (time: FunctionTime) => boolean];

const inFile = (pattern: RegExp) => (time: FunctionTime) => pattern.test(time.file);
const isNamed = (pattern: RegExp) => (time: FunctionTime) => time.file === '' && pattern.test(time.name);

/** A function belongs to the first rule that holds. V8 counts the time of its own functions, such as `JSON.parse`, towards their caller. */
const RULES: readonly Rule[] = [
  ['the system call that writes', isNamed(/^write(v|Buffer|Utf8String|Latin1String)$/)],
  ['garbage collection', isNamed(/^\(garbage collector\)$/)],
  ['`JSON.parse` of payloads', (time) => time.name === 'parseJson' && inFile(/\/src\/codec\/json-text\.ts$/)(time)],
  ['`JSON.stringify` of payloads', (time) => time.name === 'encodePayload' && inFile(/\/src\/codec\/json\.ts$/)(time)],
  ['`ws`: reading frames', inFile(/\/node_modules\/ws\//)],
  ['rxjs', inFile(/\/node_modules\/rxjs\//)],
  ...['codec', 'wire', 'operators', 'connection', 'stream', 'peer', 'transport'].map((folder): Rule => [
    `\`src/${folder}\``,
    inFile(new RegExp(`/src/${folder}/`)),
  ]),
  ['the rest of `src`', inFile(/\/src\/[^/]+(\/[^/]+)?$/)],
  ['the benchmark itself', inFile(/\/bench\//)],
  ['Node: buffers, streams, sockets, promises', () => true],
];

/** The time of each part, in the order of {@link RULES}. */
export function cpuParts(times: readonly FunctionTime[]): CpuPart[] {
  const sums = new Map<string, number>(RULES.map(([title]) => [title, 0]));
  for (const time of times) {
    const title = RULES.find(([, holds]) => holds(time))?.[0] ?? '';
    sums.set(title, (sums.get(title) ?? 0) + time.us);
  }
  return [...sums].map(([title, us]) => ({ title, us }));
}
