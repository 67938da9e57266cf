import { checkedMessage, isNearer } from '../../wire/codec.js';
import type { Codec, Message } from '../../wire/codec.js';
import { tagOf } from '../../wire/cross-realm.js';
import type { Metadata, MetadataInput } from '../../wire/frame.js';
import { disown, isThenable } from './guard.js';

/** Makes a shallow copy. It spreads, because `Object.assign` would run a `__proto__` setter. */
export function copyMetadata(metadata: MetadataInput | undefined | null): Metadata {
  if (metadata === undefined || metadata === null) return {};
  if (typeof metadata !== 'object') throw new TypeError(`expected headers or trailers to be a plain object, got ${typeof metadata}`);
  const tag = tagOf(metadata);
  // A Date, a Map, a Headers, an array or a promise would be encoded as another value, or as nothing.
  if (tag === 'Object' && !isThenable<object>(metadata) && !(Symbol.iterator in metadata)) return { ...metadata };
  disown(metadata);
  throw new TypeError(`expected headers or trailers to be a plain object, got [object ${tag}]`);
}

type MetadataField = 'headers' | 'trailers';

/**
 * Encodes metadata and returns it as it goes on the wire. A value that cannot be encoded fails its call now, and later changes to the
 * metadata are not sent. Empty metadata counts as none.
 *
 * @throws any error of the codec for a value that it cannot represent
 */
export function freezeMetadata(metadata: Metadata, codec: Codec, field: MetadataField = 'headers'): Readonly<Metadata> | null {
  const keys = Object.keys(metadata);
  if (keys.length === 0) return null;
  const flat = carries(codec) ? flatCopy(metadata, keys, codec) : null;
  if (flat !== null) return flat;
  const frozen = codec.decodePayload(encoded(metadata, codec, field)) as Metadata;
  return Object.keys(frozen).length === 0 ? null : Object.freeze(frozen);
}

type CarryingCodec = Codec & Required<Pick<Codec, 'carries'>>;

/** Whether `carries` speaks for the codec: a subclass may encode or decode in another way. */
function carries(codec: Codec): codec is CarryingCodec {
  return codec.carries !== undefined && isNearer(codec, 'carries', 'encodePayload') && isNearer(codec, 'carries', 'decodePayload');
}

/**
 * Returns a frozen copy of headers that arrive unchanged; `null` if only the codec knows what arrives. Copies entry by entry, because V8
 * takes several times as long to freeze a spread.
 */
function flatCopy(metadata: Metadata, keys: readonly string[], codec: CarryingCodec): Readonly<Metadata> | null {
  const copy: Metadata = {};
  for (const key of keys) {
    const value = metadata[key];
    // An assignment to `__proto__` would make no entry.
    if (key === '__proto__' || !codec.carries(key, value)) return null;
    copy[key] = value;
  }
  return Object.freeze(copy);
}

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
export function readOnly(payload: unknown, encodedPayload: Message, codec: Codec): unknown {
  return typeof payload === 'object' && payload !== null ? freezeDeep(codec.decodePayload(encodedPayload)) : payload;
}

/** Freezes a decoded value at all levels. Bytes cannot be frozen. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const inner of Object.values(value)) freezeDeep(inner);
  return Object.freeze(value);
}
