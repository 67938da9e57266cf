import { outcomeOf } from './oracle.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { encodedLength } from '../../src/wire/length.js';
import { bytesOf, messageOf } from './subjects.js';
import type { TargetName } from './targets.js';

/** Grows an input to any size and keeps its costly part. */
export type Grow = (bytes: number) => Message;

/** The input of one of the two decoders of a codec. */
export interface Decoding {
  readonly target: Exclude<TargetName, 'reassemble'>;
  readonly codec: Codec;
}

/** Repeats the input: as raw bytes, by its middle and, when it decodes, as the items of one array. */
export function growthsOf(input: Buffer, { target, codec }: Decoding): readonly Grow[] {
  const third = Math.ceil(input.length / 3);
  const [head, middle, tail] = [input.subarray(0, third), input.subarray(third, 2 * third), input.subarray(2 * third)];
  const grown: Grow[] = [
    (bytes) => messageOf(repeated(input, bytes), codec),
    (bytes) => messageOf(Buffer.concat([head, repeated(middle, bytes), tail]), codec),
  ];
  const item = itemOf(input, codec);
  if (item !== null) grown.push((bytes) => framed(item, Math.max(1, Math.floor(bytes / item.length)), { target, codec }));
  return grown;
}

/** The bytes of a payload: the input itself, or the payload of the frame in it. */
function itemOf(input: Buffer, codec: Codec): Buffer | null {
  if (!('error' in outcomeOf(() => codec.decodePayload(messageOf(input, codec))))) return input;
  const encoded = outcomeOf(() => bytesOf(codec.encodePayload(codec.decode(messageOf(input, codec)).payload)));
  return 'error' in encoded ? null : encoded.value;
}

/** An array of `count` equal items, built by hand: an encoder might need fewer bytes than the attacker did. */
function framed(item: Buffer, count: number, { target, codec }: Decoding): Message {
  const array = codec.binary
    ? msgpackArray(item, count)
    : Buffer.from(`[${Array.from({ length: count }, () => item.toString()).join(',')}]`);
  if (target === 'decodePayload') return messageOf(array, codec);
  const envelope = codec.binary ? Buffer.from('\x82\xa4type\xa4data\xa7payload', 'latin1') : Buffer.from('{"type":"data","payload":');
  return messageOf(Buffer.concat([envelope, array, ...(codec.binary ? [] : [Buffer.from('}')])]), codec);
}

function msgpackArray(item: Buffer, count: number): Buffer {
  const head = Buffer.alloc(5, 0xdd);
  head.writeUInt32BE(count, 1);
  return Buffer.concat([head, ...Array.from({ length: count }, () => item)]);
}

function repeated(bytes: Buffer, atLeast: number): Buffer {
  const count = Math.ceil(atLeast / Math.max(1, bytes.length));
  return Buffer.concat(Array.from({ length: count }, () => bytes));
}

const SMALL_BYTES = 8 * 1_024;
const DOUBLINGS = 5;
const LARGE_BYTES = SMALL_BYTES * 2 ** DOUBLINGS;
const RUNS = 3;
/**
 * The allowed rise of the time per byte from 8 to 256 KiB. Caches and the collector cost some; a square would cost 32 times
 * as much.
 */
export const MOST_RISE = 6;

/** Returns the rise of the time per byte from 8 to 256 KiB: the highest doubling against the first, in the calmest attempt. */
export function riseOf(grow: Grow, decoding: Decoding): number {
  let least = Infinity;
  for (let attempt = 0; attempt < 4 && !(least <= MOST_RISE); attempt++) {
    const costs = Array.from({ length: DOUBLINGS + 1 }, (_, doubling) => costOf(grow(SMALL_BYTES * 2 ** doubling), decoding));
    least = Math.min(least, Math.max(...costs) / (costs[0] ?? NaN));
  }
  return least;
}

/** The CPU time of this process for each byte: on a busy machine the wall clock would include other processes. */
function costOf(message: Message, { codec, target }: Decoding): number {
  const bytes = encodedLength(message);
  const times = Math.ceil(LARGE_BYTES / bytes);
  const runs = Array.from({ length: RUNS }, () => {
    const begun = process.cpuUsage();
    for (let time = 0; time < times; time++) outcomeOf(() => codec[target](message));
    const { user, system } = process.cpuUsage(begun);
    return user + system;
  });
  return Math.max(1, Math.min(...runs)) / (times * bytes);
}
