import { fromBase64, toBase64 } from '../util/base64.js';
import { isDate, tagOf } from '../util/check.js';
import type { Message } from '../wire/codec.js';
import { ProtocolError } from '../wire/errors.js';
import type { Frame, Metadata } from '../wire/frame.js';
import {
  MAX_DEPTH,
  bytesOf,
  depthRefusal,
  hidesContent,
  isBare,
  isBytes,
  isPlain,
  mapRefusal,
  mayBeIndex,
  placeOf,
  refusal,
  unboxed,
  valueRefusal,
} from './json-check.js';
import type { Key } from './json-check.js';
import { withoutHoles } from './indices.js';
import { weigh } from './weight.js';

/** The only key of a tagged value: an array of its kind and its content. */
const TAG = '$';

/** The levels of nesting that a tag takes: an object and an array. */
const TAG_LEVELS = 2;

/** The most digits of a bigint. Reading and printing take the square of the digits in time: 16 MiB of them took 8 s. */
const MAX_DIGITS = 4_096;

/** The furthest ms from 1970 that a `Date` can hold. */
const MAX_TIME = 8.64e15;

/** Numbers that JSON lacks, by their name in a tag. */
const NUMBERS = new Map<unknown, number>([NaN, Infinity, -Infinity, -0].map((number) => [nameOf(number), number]));

function nameOf(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number);
}

/** Whether `JSON.stringify` writes a value that is no text unchanged, without a tag, and at most 256 levels deep. Nearly all payloads qualify. */
export function isTagless(value: unknown, levels = MAX_DEPTH): boolean {
  switch (typeof value) {
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    case 'object':
      return value === null || isTaglessObject(value, levels);
    default:
      return false;
  }
}

function isTaglessObject(value: object & { readonly toJSON?: unknown }, levels: number): boolean {
  if (levels === 0 || value.toJSON !== undefined) return false;
  if (Array.isArray(value)) {
    if (value.constructor !== Array) return false;
    for (const item of value as readonly unknown[]) if (typeof item !== 'string' && !isTagless(item, levels - 1)) return false;
    return true;
  }
  return isPlain(value) && areTagless(value, levels - 1);
}

function areTagless(holder: Holder, levels: number): boolean {
  // Also visits keys that a program has added to Object.prototype, which is harmless here. It is a fifth faster than Object.keys.
  for (const key in holder) {
    const item = holder[key];
    if (key === TAG || (typeof item !== 'string' && !isTagless(item, levels))) return false;
  }
  return true;
}

type Holder = Readonly<Record<string, unknown>>;

/**
 * Copies a payload into arrays and objects that `JSON.stringify` writes as they are, with a tag for each value that JSON lacks. It reads
 * every property once, and calls `toJSON` once, with the key that `JSON.stringify` passes.
 *
 * @throws TypeError saying where and what, for a value that has no tag, and for more than 256 levels of nesting
 *
 * @example
 * ```ts
 * tagged({ at: new Date(0), tags: new Set(['a']) });   // { at: { $: ['date', 0] }, tags: { $: ['set', 'a'] } }
 * tagged([new Error()]);
 * // TypeError: codec 'rich': expected a value it can carry at payload[0], got an Error
 * ```
 */
export function tagged(payload: unknown): unknown {
  const copy = take(payload, '', 0, { root: 'payload', path: [] });
  // A frame without a payload stands for it.
  if (copy === UNDEFINED) throw valueRefusal('rich', 'payload', [], payload);
  return copy;
}

/**
 * Copies headers or trailers as {@link tagged} does, and ensures that they arrive as a map. Returns them if they need no tag. The map itself
 * never is a tag, and an entry that is `undefined` is left out.
 *
 * @throws TypeError as {@link tagged} does, and for an array or any other value that the receiver would not see as a map
 */
export function taggedMetadata(metadata: Frame['headers'], root: string): Frame['headers'] {
  if (metadata == null || (isBare(metadata) && areTagless(metadata, MAX_DEPTH - 1))) return metadata;
  const { toJSON } = metadata;
  const given: unknown = typeof toJSON === 'function' ? toJSON.call(metadata, '') : metadata;
  const isMap = typeof given === 'object' && given !== null && !Array.isArray(given) && isPlain(given);
  // A Buffer has a toJSON.
  if (!isMap || isBytes(metadata)) throw mapRefusal('rich', root, metadata);
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return entriesOf(Object.fromEntries(present), 1, { root, path: [''] });
}

interface Copying {
  readonly root: string;
  /** The step to each open container, beginning with the root; `null` for a level of a tag. */
  readonly path: (Step | null)[];
}

/** The key of a value in an array or object, or its place in a Map or Set. */
type Step = Key | { readonly place: string };

function take(value: unknown, step: Step, depth: number, copying: Copying): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : scalarTag(['number', nameOf(value)], depth, copying);
    case 'undefined':
      checkDepth(depth, TAG_LEVELS, copying);
      return UNDEFINED;
    case 'bigint':
      return scalarTag(['bigint', digitsOf(value, step, depth, copying)], depth, copying);
    case 'object':
      return value === null ? null : takeObject(value, step, depth, copying, false);
    default:
      throw refused(value, step, depth, copying);
  }
}

/** The tag of every `undefined`. */
const UNDEFINED = { [TAG]: ['undefined'] };

function scalarTag(content: readonly unknown[], depth: number, copying: Copying): unknown {
  checkDepth(depth, TAG_LEVELS, copying);
  return { [TAG]: content };
}

function digitsOf(value: bigint, step: Step, depth: number, copying: Copying): string {
  // In base 16 the time rises with the digits only.
  const digits = value.toString(16).length > MAX_DIGITS ? null : String(value);
  if (digits !== null && isInteger(digits)) return digits;
  throw refusal('rich', `expected a bigint of at most ${MAX_DIGITS} digits at ${place(step, depth, copying)}, got a longer one`);
}

/** Whether a text is an integer with few enough digits, as a bigint prints it. */
function isInteger(text: string): boolean {
  return text.length <= MAX_DIGITS + 1 && /^(0|-?[1-9]\d*)$/.test(text) && text.replace('-', '').length <= MAX_DIGITS;
}

function takeObject(value: object & { toJSON?: unknown }, step: Step, depth: number, copying: Copying, asked: boolean): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = prototype === Object.prototype || prototype === null || Array.isArray(value);
  if (!plain) {
    if (isBytes(value)) return scalarTag(['bytes', toBase64(bytesOf(value))], depth, copying);
    if (isDate(value)) return scalarTag(['date', timeOf(value)], depth, copying);
    if (isCollection(Map, value)) return mapTag(value, step, depth, copying);
    if (isCollection(Set, value)) return setTag(value, step, depth, copying);
  }
  const toJSON = asked ? undefined : value.toJSON;
  if (typeof toJSON === 'function') {
    const answer: unknown = toJSON.call(value, typeof step === 'object' ? '' : String(step));
    const isObject = typeof answer === 'object' && answer !== null;
    return isObject ? takeObject(answer, step, depth, copying, true) : take(answer, step, depth, copying);
  }
  if (!plain) {
    const primitive = unboxed(value);
    if (primitive !== undefined) return take(primitive, step, depth, copying);
    if (hidesContent(value)) throw refused(value, step, depth, copying);
  }
  checkDepth(depth, 1, copying);
  copying.path[depth] = step;
  if (Array.isArray(value)) return itemsOf([...(value as readonly unknown[])], depth + 1, copying);
  const copy: Record<string, unknown> = { ...value };
  // Only the tagged form has this one key, so it stands for the object.
  if (Object.hasOwn(copy, TAG) && Object.keys(copy).length === 1) {
    checkDepth(depth, TAG_LEVELS, copying);
    copying.path[depth + 1] = null;
    return { [TAG]: [TAG, take(copy[TAG], TAG, depth + TAG_LEVELS, copying)] };
  }
  return entriesOf(copy, depth + 1, copying);
}

/** The ms of a Date; `null` for an invalid one. */
function timeOf(date: Date): number | null {
  const ms = date.getTime();
  return Number.isNaN(ms) ? null : ms;
}

/** Whether an object is a Map or a Set, of this realm or another, and not only called one. */
function isCollection(type: MapConstructor, value: object): value is Map<unknown, unknown>;
function isCollection(type: SetConstructor, value: object): value is Set<unknown>;
function isCollection(type: MapConstructor | SetConstructor, value: object): boolean {
  if (!(value instanceof type) && tagOf(value) !== type.name) return false;
  try {
    type.prototype.has.call(value as never, null);
    return true;
  } catch {
    return false;
  }
}

function mapTag(map: Map<unknown, unknown>, step: Step, depth: number, copying: Copying): unknown {
  const content = openTag('map', step, depth, copying);
  Map.prototype.forEach.call(map, (value: unknown, key: unknown) => {
    const at = (content.length - 1) / 2;
    content.push(take(key, { place: `.keys()[${at}]` }, depth + TAG_LEVELS, copying));
    const name = typeof key === 'string' || typeof key === 'number' ? `.get(${JSON.stringify(key)})` : `.values()[${at}]`;
    content.push(take(value, { place: name }, depth + TAG_LEVELS, copying));
  });
  return { [TAG]: content };
}

function setTag(set: Set<unknown>, step: Step, depth: number, copying: Copying): unknown {
  const content = openTag('set', step, depth, copying);
  Set.prototype.forEach.call(set, (value: unknown) => {
    content.push(take(value, { place: `.values()[${content.length - 1}]` }, depth + TAG_LEVELS, copying));
  });
  return { [TAG]: content };
}

function openTag(kind: string, step: Step, depth: number, copying: Copying): unknown[] {
  checkDepth(depth, TAG_LEVELS, copying);
  copying.path[depth] = step;
  copying.path[depth + 1] = null;
  return [kind];
}

function itemsOf(copy: unknown[], depth: number, copying: Copying): unknown[] {
  for (const [index, item] of copy.entries()) if (typeof item !== 'string') copy[index] = take(item, index, depth, copying);
  return copy;
}

function entriesOf(copy: Record<string, unknown>, depth: number, copying: Copying): Record<string, unknown> {
  // Indices come before all other keys.
  let mayHaveIndices: boolean | undefined;
  for (const key in copy) {
    mayHaveIndices ??= mayBeIndex(key);
    const item = copy[key];
    if (typeof item !== 'string' && Object.hasOwn(copy, key)) copy[key] = take(item, key, depth, copying);
  }
  return mayHaveIndices === true ? withoutHoles(copy) : copy;
}

function checkDepth(depth: number, levels: number, { root }: Copying): void {
  if (depth + levels > MAX_DEPTH) throw depthRefusal('rich', root, MAX_DEPTH);
}

function refused(value: unknown, step: Step, depth: number, copying: Copying): TypeError {
  return valueRefusal('rich', place(step, depth, copying), [], value);
}

function place(step: Step, depth: number, { root, path }: Copying): string {
  const steps = depth === 0 ? [] : [...path.slice(1, depth), step];
  return root + steps.map((each) => (each === null ? '' : typeof each === 'object' ? each.place : placeOf('', [each]))).join('');
}

/** Whether a text may hold a tag. `\u0024` is the only other spelling of its key. */
export function mayHoldTags(text: Message): boolean {
  return typeof text === 'string' && (text.includes('$"') || text.includes('\\u0024'));
}

/**
 * Replaces the tagged values of a parsed payload, within its own arrays and objects.
 *
 * @throws ProtocolError for a tag of an unknown kind or with wrong content, and for `undefined` as the payload; the message quotes nothing
 */
export function untaggedPayload(payload: unknown): unknown {
  const value = untagged(payload);
  if (value === undefined) throw malformed('expected a value as the payload, got undefined');
  return value;
}

/** Replaces the tagged values of parsed headers or trailers, as {@link untaggedPayload} does. The map itself never is a tag. */
export function untaggedMetadata(metadata: Metadata | null): void {
  if (metadata !== null) untagEntries(metadata);
}

function untagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return untagItems(value, 0);
  const holder = value as Record<string, unknown>;
  if (!Object.hasOwn(holder, TAG) || Object.keys(holder).length !== 1) return untagEntries(holder);
  const tag = holder[TAG];
  const read = Array.isArray(tag) && typeof tag[0] === 'string' ? KINDS.get(tag[0]) : undefined;
  if (read === undefined) throw malformed('expected a known kind in a tagged value, got another');
  return read(untagItems(tag as unknown[], 1));
}

function untagItems(items: unknown[], from: number): unknown[] {
  for (let at = from; at < items.length; at++) {
    const item = items[at];
    if (typeof item === 'object' && item !== null) items[at] = untagged(item);
  }
  return items;
}

function untagEntries(holder: Record<string, unknown>): Record<string, unknown> {
  for (const key in holder) {
    const item = holder[key];
    // The key `__proto__` is an own property too, so the assignment changes no prototype.
    if (typeof item === 'object' && item !== null && Object.hasOwn(holder, key)) holder[key] = untagged(item);
  }
  return holder;
}

/** Reads the content of each kind of tag. The first item is the kind itself. */
const KINDS = new Map<string, (content: unknown[]) => unknown>([
  ['undefined', (content) => onlyItem(content, content.length === 1, 'no content')],
  ['number', (content) => NUMBERS.get(onlyItem(content, NUMBERS.has(content[1]), 'NaN, Infinity, -Infinity or -0'))],
  ['bigint', (content) => BigInt(onlyItem(content, typeof content[1] === 'string' && isInteger(content[1]), DIGITS) as string)],
  [
    'date',
    (content) => new Date((onlyItem(content, isTime(content[1]), 'an integer of ms within ±8.64e15, or null') as number | null) ?? NaN),
  ],
  ['bytes', (content) => fromBase64(onlyItem(content, isBase64(content[1]), 'base64') as string)],
  ['map', mapOf],
  ['set', (content) => new Set(content.slice(1))],
  [TAG, (content) => ({ [TAG]: onlyItem(content, content.length === 2, 'one value') })],
]);

const DIGITS = `an integer of at most ${MAX_DIGITS} digits`;

function onlyItem(content: readonly unknown[], isRight: boolean, expected: string): unknown {
  if (isRight && content.length <= TAG_LEVELS) return content[1];
  throw malformed(`expected ${expected} in a tagged value of the kind '${String(content[0])}', got another`);
}

function isTime(value: unknown): boolean {
  return value === null || (Number.isInteger(value) && Math.abs(Number(value)) <= MAX_TIME);
}

// A pattern for the whole text would need memory for each character.
function isBase64(value: unknown): boolean {
  if (typeof value !== 'string' || value.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(value)) return false;
  const padding = value.indexOf('=');
  return padding < 0 || padding === value.length - 1 || (padding === value.length - 2 && value.endsWith('=='));
}

function mapOf(content: readonly unknown[]): Map<unknown, unknown> {
  if (content.length % 2 === 0) throw malformed("expected a value for each key in a tagged value of the kind 'map', got none");
  const map = new Map<unknown, unknown>();
  for (let at = 1; at < content.length; at += 2) map.set(content[at], content[at + 1]);
  return map;
}

function malformed(text: string): ProtocolError {
  return new ProtocolError(`codec 'rich': ${text}`);
}

/** Weighs a value that JSON lacks: see `weightOf`. */
export function weighRich(value: unknown): number | null {
  if (typeof value === 'bigint') return BIGINT_BYTES + (BigInt.asIntN(64, value) === value ? 0 : value.toString(16).length / 2);
  if (value instanceof Map) return weighCollection(value, MAP_ENTRY_BYTES, (key, item) => weigh(key) + weigh(item));
  return value instanceof Set ? weighCollection(value, SET_ENTRY_BYTES, weigh) : null;
}

function weighCollection(
  collection: ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>,
  entryBytes: number,
  weighEntry: (value: unknown, key: unknown) => number,
): number {
  let bytes = COLLECTION_BYTES + collection.size * entryBytes;
  collection.forEach((value: unknown, key: unknown) => {
    bytes += weighEntry(value, key);
  });
  return bytes;
}

const BIGINT_BYTES = 24;
const COLLECTION_BYTES = 200;
/** V8's table has up to twice as many places as entries. */
const MAP_ENTRY_BYTES = 56;
const SET_ENTRY_BYTES = 40;
