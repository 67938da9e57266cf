import { IN_ENVELOPE_ORDER } from '../wire/fields.js';
import type { Frame, Metadata } from '../wire/frame.js';
import { toMapping } from '../wire/mapping.js';
import { isArrayBuffer, isDate } from '../wire/cross-realm.js';
import { isBytes, metadataCopy } from './plain-copy.js';
import type { Dialect } from './plain-copy.js';
import { wellFormed } from './well-formed.js';

/** The most levels of nesting in a payload: the msgpack library stops at 100, and an envelope uses some of them. */
export const MAX_DEPTH = 95;

/** The values that msgpack carries and JSON does not, and the values that msgpack refuses. */
export const MSGPACK_DIALECT: Dialect = {
  codec: 'msgpack',
  maxDepth: MAX_DEPTH,
  text: wellFormed,
  nonFinite: true,
  protoKey: false,
  atom(value) {
    if (isBytes(value)) return bytesOf(value);
    if (!isDate(value)) return undefined;
    const time = value.getTime();
    return Number.isNaN(time) ? undefined : new Date(time);
  },
  // Refuses an invalid Date: its toJSON returns null.
  refuses: isDate,
};

/**
 * Returns an envelope for the encoder, with checked copies of headers and trailers. The payload is checked elsewhere.
 *
 * @throws TypeError for headers or trailers that msgpack cannot represent
 */
export function checkedMapping(frame: Frame): Record<string, unknown> {
  const mapping = toMapping(frame);
  for (const { key, kind } of IN_ENVELOPE_ORDER) {
    const value = mapping[key];
    if (value === undefined || kind === 'payload') continue;
    if (kind === 'metadata') mapping[key] = metadataCopy(value as Metadata, key, MSGPACK_DIALECT);
    else if (typeof value === 'string') mapping[key] = wellFormed(value);
    else if (isArrayBuffer(value)) mapping[key] = new Uint8Array(value);
  }
  return mapping;
}

/** Returns the bytes of a buffer, or of any view of one, without a copy. */
export function bytesOf(bytes: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
}
