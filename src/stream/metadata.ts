import { isThenable, markHandled, tagOf } from '../util/check.js';
import { getOrMake } from '../util/collections.js';
import { checkedMessage, isNearer, unpacked } from '../wire/codec.js';
import type { Codec, Message, PackedPayload } from '../wire/codec.js';
import type { Metadata, MetadataInput } from '../wire/frame.js';

/** Makes a shallow copy. It spreads, because `Object.assign` would run a `__proto__` setter. */
export function copyMetadata(metadata: MetadataInput | undefined | null): Metadata {
  if (metadata === undefined || metadata === null) return {};
  if (typeof metadata !== 'object') throw new TypeError(`expected headers or trailers to be a plain object, got ${typeof metadata}`);
  const tag = tagOf(metadata);
  // A Date, a Map, a Headers, an array or a promise would be encoded as another value, or as nothing.
  if (tag === 'Object' && showsItsEntries(metadata)) return { ...metadata };
  markHandled(metadata);
  throw new TypeError(`expected headers or trailers to be a plain object, got [object ${tag}]`);
}

function showsItsEntries(object: object): boolean {
  return !isThenable(object) && !(Symbol.iterator in object);
}

type MetadataField = 'headers' | 'trailers';

/**
 * Returns metadata as it goes on the wire, or `null` for none. A value that cannot be encoded fails its call now, and later changes to the
 * metadata are not sent. Empty metadata counts as none.
 *
 * @throws TypeError for metadata that is no plain object; any error of the codec for a value that it cannot represent
 */
export function freezeMetadata(
  metadata: MetadataInput | undefined | null,
  codec: Codec,
  field: MetadataField = 'headers',
): Readonly<Metadata> | null {
  if (metadata === undefined || metadata === null) return null;
  return flatCopy(metadata, codec) ?? transmitted(copyMetadata(metadata), codec, field);
}

/**
 * Returns a frozen copy of headers that arrive unchanged, as nearly all do; `null` for all others. Copies entry by entry, because V8 takes
 * several times as long to freeze a spread. It reads each entry once. `Object.keys` would make an array for each call.
 */
function flatCopy(metadata: object, codec: Codec): Readonly<Metadata> | null {
  if (!isLiteral(metadata) || !carries(codec)) return null;
  const copy: Metadata = {};
  let isEmpty = true;
  for (const key in metadata) {
    if (!Object.hasOwn(metadata, key)) continue;
    const value = metadata[key];
    // An assignment to `__proto__` would make no entry.
    if (key === '__proto__' || !codec.carries(key, value)) return null;
    copy[key] = value;
    isEmpty = false;
  }
  return isEmpty ? null : Object.freeze(copy);
}

/** Whether {@link copyMetadata} would certainly copy an object. */
function isLiteral(object: object & { readonly [Symbol.toStringTag]?: unknown }): object is Readonly<Metadata> {
  return Object.getPrototypeOf(object) === Object.prototype && object[Symbol.toStringTag] === undefined && showsItsEntries(object);
}

/** Returns metadata as the codec encodes and decodes it. An entry that is `undefined` is left out, also by a codec that carries it. */
function transmitted(metadata: Metadata, codec: Codec, field: MetadataField): Readonly<Metadata> | null {
  if (Object.keys(metadata).length === 0) return null;
  for (const key in metadata) if (metadata[key] === undefined) Reflect.deleteProperty(metadata, key);
  const decoded = codec.decodePayload(encoded(metadata, codec, field)) as Metadata;
  return Object.keys(decoded).length === 0 ? null : Object.freeze(decoded);
}

type CarryingCodec = Codec & Required<Pick<Codec, 'carries'>>;

/** Whether `carries` speaks for the codec: a subclass may encode or decode in another way. Each codec is inspected once. */
function carries(codec: Codec): codec is CarryingCodec {
  return getOrMake(
    CARRYING,
    codec,
    () => codec.carries !== undefined && isNearer(codec, 'carries', 'encodePayload') && isNearer(codec, 'carries', 'decodePayload'),
  );
}

const CARRYING = new WeakMap<Codec, boolean>();

function encoded(metadata: Metadata, codec: Codec, field: MetadataField): Message {
  try {
    return checkedMessage(codec, codec.encodePayload(metadata));
  } catch (error) {
    // `encodePayload` blames a payload. Encode it as its field, so that the error names `headers` or `trailers`.
    codec.encode({ type: 'data', [field]: metadata });
    throw error;
  }
}

/** A payload for read-only use: a copy of what is sent of it, frozen at all levels. */
export function readOnly(payload: unknown, packed: PackedPayload, codec: Codec): unknown {
  return typeof payload === 'object' && payload !== null ? freezeDeep(codec.decodePayload(unpacked(packed))) : payload;
}

/** Freezes a decoded value at all levels. Bytes, dates, Maps and Sets cannot be frozen. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const inner of Object.values(value)) freezeDeep(inner);
  return Object.freeze(value);
}
