import type { Random } from './random.js';
import type { Tokens } from './tokens.js';

/** Messages in the order of their arrival. Most targets take one. */
export type Input = readonly Buffer[];

/** The largest size of an input: faults show in small inputs, and those run more often. */
const MOST_BYTES = 4_096;
const MOST_MESSAGES = 24;
const MOST_REPEATS = 300;

type Edit = (bytes: Buffer, random: Random, context: Context) => Buffer;

interface Context {
  readonly tokens: Tokens;
  readonly other: Buffer;
}

/** Makes another input from `input` by a few edits of its bytes, and of the order of its messages if there are several. */
export function mutated(input: Input, other: Input, tokens: Tokens, random: Random): Input {
  const messages = input.length > 1 && random.below(3) === 0 ? rearranged(input, other, random) : [...input];
  const at = random.below(messages.length);
  let bytes = messages[at] ?? Buffer.alloc(0);
  const context = { tokens, other: other[random.below(other.length)] ?? bytes };
  for (let edits = random.few(8); edits > 0; edits--) bytes = random.pick(EDITS)(bytes, random, context);
  messages[at] = bytes.subarray(0, MOST_BYTES);
  return messages.slice(0, MOST_MESSAGES);
}

function rearranged(input: Input, other: Input, random: Random): Buffer[] {
  const [from, to] = span(input.length, random);
  const some = input.slice(from, to);
  const edited = [
    [...input.slice(0, from), ...input.slice(to)],
    [...input.slice(0, to), ...some, ...input.slice(to)],
    [...input.slice(0, from), ...some.reverse(), ...input.slice(to)],
    [...input.slice(0, from), ...other, ...input.slice(from)],
  ][random.below(4)];
  return edited === undefined || edited.length === 0 ? [...input] : edited;
}

const EDITS: readonly [Edit, ...Edit[]] = [
  function flipBit(bytes, random) {
    return poked(bytes, random, (byte) => byte ^ (1 << random.below(8)));
  },
  function nudgeByte(bytes, random) {
    return poked(bytes, random, (byte) => byte + (random.below(2) === 0 ? 1 : -1) * random.few(16));
  },
  function setByte(bytes, random) {
    return poked(bytes, random, () => random.below(256));
  },
  function insertBytes(bytes, random) {
    return replaced(bytes, random, 0, Buffer.from(Array.from({ length: random.few(16) }, () => random.below(256))));
  },
  function deleteSpan(bytes, random) {
    const [from, to] = span(bytes.length, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  function repeatSpan(bytes, random) {
    const [from, to] = span(bytes.length, random);
    const count = Math.min(random.few(MOST_REPEATS), Math.floor(MOST_BYTES / Math.max(1, to - from)));
    const copies = Array.from({ length: count }, () => bytes.subarray(from, to));
    return Buffer.concat([bytes.subarray(0, to), ...copies, bytes.subarray(to)]);
  },
  function moveSpan(bytes, random) {
    const [from, to] = span(bytes.length, random);
    return replaced(bytes, random, to - from, bytes.subarray(from, to));
  },
  function insertToken(bytes, random, { tokens }) {
    return replaced(bytes, random, 0, random.pick(tokens));
  },
  function overwriteWithToken(bytes, random, { tokens }) {
    return replaced(bytes, random, random.few(8), random.pick(tokens));
  },
  function repeatToken(bytes, random, { tokens }) {
    const token = random.pick(tokens);
    return replaced(bytes, random, 0, Buffer.concat(Array.from({ length: random.few(MOST_REPEATS) }, () => token)));
  },
  // Digits in a text are a number. In bytes, any short run may be a length.
  function changeNumber(bytes, random, { tokens }) {
    const digits = [...bytes.toString('latin1').matchAll(/\d+/g)];
    const run = digits[random.below(digits.length)];
    if (run === undefined) return poked(bytes, random, (byte) => 0xff - byte);
    const token = random.pick(tokens);
    return Buffer.concat([bytes.subarray(0, run.index), token, bytes.subarray(run.index + run[0].length)]);
  },
  function spliceWithOther(bytes, random, { other }) {
    const [from, to] = span(other.length, random);
    return replaced(bytes, random, random.below(to - from + 1), other.subarray(from, to));
  },
  function crossOver(bytes, random, { other }) {
    return Buffer.concat([bytes.subarray(0, random.below(bytes.length + 1)), other.subarray(random.below(other.length + 1))]);
  },
];

function span(length: number, random: Random): [from: number, to: number] {
  if (length === 0) return [0, 0];
  const from = random.below(length);
  return [from, from + Math.min(random.few(length), length - from)];
}

function poked(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  const at = random.below(copy.length);
  const byte = copy[at];
  if (byte !== undefined) copy[at] = change(byte) & 0xff;
  return copy;
}

function replaced(bytes: Buffer, random: Random, count: number, by: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + count)]);
}
