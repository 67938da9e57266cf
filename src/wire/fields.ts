import { isArrayBuffer } from './cross-realm.js';
import { ABSENT } from './frame.js';
import type { Frame, Metadata } from './frame.js';
import { isPlainObject } from './plain-object.js';

/** A field of a frame on the wire. */
export interface Field<T> {
  readonly key: keyof Frame;
  readonly kind: 'type' | 'id' | 'code' | 'flag' | 'text' | 'slice' | 'metadata' | 'payload';
  readonly accepts: (value: unknown) => value is T;
  readonly expected: string;
  /** Assumed when the key is missing, never written. `type` has none. */
  readonly fallback: T;
}

const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isText = (value: unknown): value is string | null => typeof value === 'string' || value === null;
const isType = (value: unknown): value is string | undefined => typeof value === 'string';
const isCode = (value: unknown): value is number | null => Number.isInteger(value) || value === null;
/** Whether a value is a stream id, or `null`. */
export const isId = (value: unknown): value is number | null => (Number.isSafeInteger(value) && Number(value) >= 0) || value === null;
const isSlice = (value: unknown): value is string | ArrayBuffer | null => isText(value) || isArrayBuffer(value);
const isMetadata = (value: unknown): value is Metadata | null => value === null || isPlainObject(value);
const isAnything = (value: unknown): value is unknown => value !== undefined;

const FLAG = { kind: 'flag', accepts: isFlag, expected: 'a boolean', fallback: false } as const;
const ID = { kind: 'id', accepts: isId, expected: 'an integer from 0 to 2^53 - 1 or null', fallback: null } as const;
const TEXT = { kind: 'text', accepts: isText, expected: 'a string or null', fallback: null } as const;
const METADATA = { kind: 'metadata', accepts: isMetadata, expected: 'a map with string keys or null', fallback: null } as const;

/**
 * The fields of a frame, in the order of an envelope. Code that reads and writes mappings, compares frames or encodes msgpack uses this
 * table. Hot paths spell the fields out, and a spec compares them with the table.
 */
export const FIELDS = {
  type: field('type', { kind: 'type', accepts: isType, expected: 'a string', fallback: undefined }),
  stream: field('stream', ID),
  code: field('code', { kind: 'code', accepts: isCode, expected: 'an integer or null', fallback: null }),
  end: field('end', FLAG),
  fragment: field('fragment', { kind: 'slice', accepts: isSlice, expected: 'a string, an ArrayBuffer or null', fallback: null }),
  headers: field('headers', METADATA),
  last_stream: field('last_stream', ID),
  more: field('more', FLAG),
  nonce: field('nonce', TEXT),
  payload: field('payload', { kind: 'payload', accepts: isAnything, expected: 'any value', fallback: ABSENT }),
  reason: field('reason', TEXT),
  trailers: field('trailers', METADATA),
} satisfies Record<keyof Frame, unknown>;

/** The fields in the order of an envelope. */
export const IN_ENVELOPE_ORDER: readonly Field<unknown>[] = Object.values(FIELDS);

function field<T>(key: keyof Frame, kind: Omit<Field<T>, 'key'>): Field<T> {
  return { key, ...kind };
}
