import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from '../support/fast-check.js';
import type { Codec } from '../../src/wire/codec.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { fromMapping } from '../../src/wire/mapping.js';
import { binaryPayload, frames, jsonPayload } from '../support/wire/arbitraries.js';
import type { Input } from './mutate.js';
import { outcomeOf } from './oracle.js';
import { bytesOf } from './subjects.js';
import type { TargetName } from './targets.js';

/** The keys of a conformance file that hold frames. */
interface Case {
  readonly message?: unknown;
  readonly frame?: unknown;
  readonly steps?: readonly { readonly feed?: unknown }[];
}

/** The seeds of mutation are small, because every input runs many times. */
const MOST_BYTES = 1_024;
const FILES = ['decode', 'encode', 'roundtrip', 'split', 'assemble'];
const MADE_FRAMES = 150;
const MOST_MESSAGES = 12;
const CAPS = [80, 120, 400];

/** The seeds of mutation for one codec: the conformance suite, the vectors of JSONTestSuite, and made frames. */
export function seedsOf(codec: Codec, directory: string, seed: number): Readonly<Record<TargetName, readonly Input[]>> {
  const cases = FILES.flatMap((file) => casesOf(join(directory, 'conformance', `${file}.json`)));
  const mappings = cases.flatMap(({ frame, steps = [] }) => [frame, ...steps.map(({ feed }) => feed)]);
  const made = fc.sample(frames(codec.binary ? binaryPayload() : jsonPayload()), { seed, numRuns: MADE_FRAMES });
  const all = [...mappings.flatMap(frameOf), ...made];
  const texts = codec.binary ? [] : cases.flatMap(({ message }) => (typeof message === 'string' ? [Buffer.from(message)] : []));
  const vectors = codec.binary ? [] : vectorsIn(join(directory, 'support/codec/json-vectors/vectors.json'));
  const encoded = all.flatMap((frame) => encodedBy(() => codec.encode(frame)));
  const payloads = all.flatMap(({ payload }) => (payload === ABSENT ? [] : encodedBy(() => codec.encodePayload(payload))));
  const cut = all.flatMap((frame) => CAPS.flatMap((cap) => cutAt(frame, cap, codec)));
  return {
    decode: alone([...texts, ...encoded]),
    decodePayload: alone([...payloads, ...vectors]),
    reassemble: [...cut, ...cut.map((messages, at) => interleaved(messages, cut[at + 1] ?? []))],
  };
}

function alone(messages: readonly Buffer[]): Input[] {
  return messages.filter(({ length }) => length <= MOST_BYTES).map((message) => [message]);
}

function casesOf(path: string): readonly Case[] {
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly cases: readonly Case[] }).cases;
}

function vectorsIn(path: string): Buffer[] {
  return Object.values(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>).map((base64) => Buffer.from(base64, 'base64'));
}

function frameOf(mapping: unknown): Frame[] {
  const outcome = outcomeOf(() => fromMapping(mapping));
  return 'error' in outcome ? [] : [outcome.value];
}

// A frame that the codec cannot carry, or that is too small to cut, is no seed.
function encodedBy(encode: () => string | ArrayBuffer): Buffer[] {
  const outcome = outcomeOf(encode);
  return 'error' in outcome ? [] : [bytesOf(outcome.value)];
}

function cutAt(frame: Frame, cap: number, codec: Codec): Input[] {
  const outcome = outcomeOf(() => splitFrame(frame, cap, codec).map((slice) => bytesOf(codec.encode(slice))));
  return 'error' in outcome || outcome.value.length < 2 || outcome.value.length > MOST_MESSAGES ? [] : [outcome.value];
}

function interleaved(one: Input, other: Input): Input {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, at) => [
    ...one.slice(at, at + 1),
    ...other.slice(at, at + 1),
  ]).flat();
}
