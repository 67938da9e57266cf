import { Decoder, EXT_TIMESTAMP, Encoder, ExtData, decodeTimestampToTimeSpec, encodeTimestampExtension } from '@msgpack/msgpack';
import type { ExtensionCodecType } from '@msgpack/msgpack';
import { isArrayBuffer, isPlainObject } from '../util/check.js';
import { unpacked } from '../wire/codec.js';
import type { Codec, Message } from '../wire/codec.js';
import { ProtocolError } from '../wire/errors.js';
import { ABSENT, IN_ENVELOPE_ORDER } from '../wire/frame.js';
import type { CompleteFrame, Frame, Metadata } from '../wire/frame.js';
import { DEFAULT_LIMITS } from '../wire/limits.js';
import type { DecodeLimits } from '../wire/limits.js';
import { fromMapping, toMapping } from '../wire/mapping.js';
import { joinBytes } from '../wire/reassembly.js';
import {
  KEPT_BYTES,
  NOT_PLAIN,
  decodeCanonical,
  decodePlain,
  encodeCanonical,
  encodeCanonicalAround,
  encodePlain,
} from './msgpack-plain.js';
import { MAX_DEPTH, metadataCopy, plainCopy, wellFormed } from './plain-copy.js';
import { bytesOf, carriesEntry, mayBeIndex } from './json-check.js';
import { emptyDictionary } from './indices.js';
import { malformed, prescan, withDoubledBoms } from './prescan.js';
import type { PrescanLimits } from './prescan.js';
import { weightOf } from './weight.js';

/** Writes a `Date` as the timestamp extension, and reads no other extension. */
export const TIMESTAMPS_ONLY: ExtensionCodecType<undefined> = {
  tryToEncode(value) {
    const data = encodeTimestampExtension(value);
    return data === null ? null : new ExtData(EXT_TIMESTAMP, data);
  },
  decode(data, type) {
    if (type !== EXT_TIMESTAMP) throw malformed(`expected no extension but timestamp (-1), got type ${type}`);
    const { sec, nsec } = decodeTimestampToTimeSpec(data);
    if (nsec > 999_999_999) throw malformed(`expected at most 999 999 999 nanoseconds in a timestamp, got ${nsec}`);
    const date = new Date(sec * 1e3 + nsec / 1e6);
    if (Number.isNaN(date.getTime())) throw malformed('expected a timestamp within the range of Date, got one beyond it');
    return date;
  },
};

/** Decodes values within limits. The values share no memory with their message. */
export class MsgpackDecoder {
  #decoder = this.#newDecoder();
  /** Whether a key of the value that is being decoded has the {@link KEY_PREFIX}. */
  #keysPrefixed = false;

  /** @throws ProtocolError for bytes that are not one msgpack value or exceed a limit */
  decode(bytes: Uint8Array, limits: PrescanLimits): unknown {
    const { blobs, bomTexts } = prescan(bytes, limits);
    this.#keysPrefixed = false;
    const value = decodeScanned(this.#decoder, bomTexts === null ? bytes : withDoubledBoms(bytes, bomTexts));
    // A decoder keeps its last message alive.
    if (bytes.length > KEPT_BYTES) this.#decoder = this.#newDecoder();
    return blobs === 0 && !this.#keysPrefixed ? value : withOwnMemory(value, this.#keysPrefixed);
  }

  #newDecoder(): Decoder {
    return new Decoder({
      extensionCodec: TIMESTAMPS_ONLY,
      mapKeyConverter: (key) => {
        const text = textOrInteger(key);
        if (!mayBeIndex(text) && text.charCodeAt(0) !== 0) return text;
        this.#keysPrefixed = true;
        return KEY_PREFIX + text;
      },
    });
  }
}

// Possible index keys are decoded with this prefix. Later they move without it into an object in dictionary mode. The decoder itself
// would make an object that reserves memory for every index below the highest.
const KEY_PREFIX = '\0';

function textOrInteger(key: unknown): string {
  if (typeof key !== 'string' && !Number.isSafeInteger(key))
    throw malformed('expected text or an integer up to 2^53 - 1 as a key, got another value');
  return String(key);
}

function decodeScanned(decoder: Decoder, bytes: Uint8Array): unknown {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    if (cause instanceof ProtocolError) throw cause;
    throw malformed(`expected a value that can be decoded, got ${bytes.length} bytes that cannot: ${String(cause)}`, { cause });
  }
}

// The decoder returns views of the message. A receiver may keep or transfer them, or read their `buffer`.
function withOwnMemory(value: unknown, keysPrefixed: boolean): unknown {
  if (value instanceof Uint8Array) return value.slice();
  if (Array.isArray(value)) return value.map((item) => withOwnMemory(item, keysPrefixed));
  if (!isPlainObject(value)) return value;
  const keys = Object.keys(value);
  const whole = keysPrefixed && keys.some((key) => key.startsWith(KEY_PREFIX)) ? emptyDictionary() : value;
  for (const key of keys) {
    const name = whole !== value && key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : key;
    whole[name] = withOwnMemory(value[key], keysPrefixed);
  }
  return whole;
}

/**
 * The codec `msgpack`: every frame is one binary message. Register it before you look it up.
 *
 * Payloads may hold these values beside the values of JSON:
 *
 * - bytes: any view or ArrayBuffer, which arrives as a `Uint8Array` with memory of its own
 * - `Date`, as the timestamp extension, in ms
 * - `NaN` and the infinities
 *
 * The codec calls `toJSON` as JSON does, except on bytes and dates. It omits a property that is `undefined`, and writes `null` for an
 * `undefined` element. An object counts by its own enumerable properties. Maps with integer keys are accepted, and arrive as objects.
 * Integers beyond 2^53 arrive rounded. Half of a surrogate pair is sent as U+FFFD, in a key as well.
 *
 * The codec refuses more than 95 levels of nesting and a key `__proto__`: with a TypeError when it encodes, with a ProtocolError when it
 * decodes. The encoder also throws a TypeError for functions, symbols, bigint and an invalid `Date`. It does so too for values that would
 * arrive as an empty map, such as Map, Set, Promise, RegExp and Error. The decoder also throws a ProtocolError for text that is not
 * UTF-8, extension types other than timestamp, and keys that are neither text nor integers.
 *
 * @example
 * ```ts
 * registerCodec('msgpack', new MsgpackCodec());
 * const codec = getCodec('msgpack');
 * codec.decodePayload(codec.encodePayload({ at: new Date(0), raw: Buffer.of(1, 2) }));
 * // { at: 1970-01-01T00:00:00.000Z, raw: Uint8Array(2) [ 1, 2 ] }
 * ```
 */
export class MsgpackCodec implements Codec {
  readonly name = 'msgpack';
  readonly binary = true;
  #encoder = newEncoder();
  readonly #decoder = new MsgpackDecoder();

  /** Keeps Vue from wrapping it in a Proxy: plain objects have another tag. */
  get [Symbol.toStringTag](): string {
    return 'MsgpackCodec';
  }

  /**
   * Encodes a frame to one message. Returns a separate buffer of exactly its length.
   *
   * @throws TypeError for a payload, headers or trailers that msgpack cannot represent; also whatever else the msgpack library throws
   */
  encode(frame: Frame): ArrayBuffer {
    const { payload } = frame;
    if (payload === undefined || payload === ABSENT)
      return encodeCanonical(frame, null)?.slice().buffer ?? this.#encoder.encode(checkedMapping(frame)).buffer;
    return this.encodeWith(frame, this.packPayload(payload));
  }

  /**
   * Encodes a frame around its payload's bytes, and does not read `frame.payload`.
   *
   * @throws TypeError as {@link encode} does, and for a payload that is text
   */
  encodeWith(frame: Frame, encodedPayload: Message | Uint8Array): ArrayBuffer {
    if (typeof encodedPayload === 'string') throw new TypeError(`codec 'msgpack': expected the encoded payload as bytes, got text`);
    const payload = bytesOf(encodedPayload);
    const canonical = encodeCanonical(frame, payload);
    if (canonical !== null) return canonical.slice().buffer;
    const [before, behind] = this.#around(frame, 'payload');
    return joinBytes([before, payload, behind], before.byteLength + payload.length + behind.byteLength);
  }

  /**
   * Encodes a frame around its payload's bytes. Returns a view of memory that the next call overwrites. `null` for a frame with more than
   * `type`, `stream`, `end`, headers and a payload, and for a payload that is text.
   */
  lend(frame: Frame, encodedPayload: Message | Uint8Array): Uint8Array | null {
    return typeof encodedPayload === 'string' ? null : encodeCanonical(frame, bytesOf(encodedPayload));
  }

  /**
   * Returns the bytes before and behind a frame's payload, or its fragment. Each is a separate buffer of exactly its length.
   *
   * @throws TypeError as {@link encode} does
   */
  encodeAround(frame: Frame): readonly [before: ArrayBuffer, behind: ArrayBuffer] {
    return encodeCanonicalAround(frame) ?? this.#around(frame, frame.fragment == null ? 'payload' : 'fragment');
  }

  #around(frame: Frame, field: 'payload' | 'fragment'): readonly [before: ArrayBuffer, behind: ArrayBuffer] {
    // The two envelopes differ from the header of the placeholder on.
    const encoded = (placeholder: string): Uint8Array<ArrayBuffer> =>
      this.#encoder.encode(checkedMapping({ ...frame, [field]: placeholder }));
    const whole = encoded('');
    const longer = encoded('-');
    const at = whole.findIndex((byte, n) => byte !== longer[n]);
    return [whole.buffer.slice(0, at), whole.buffer.slice(at + 1)];
  }

  /**
   * Decodes one binary message. A fragment in it becomes a separate ArrayBuffer.
   *
   * @param limits how many items the message may have; by default 1 000 000
   * @throws ProtocolError for text, and for bytes that are not one msgpack map or exceed a limit. Also for an envelope with a missing or
   *   wrong field. The message quotes nothing of the content.
   */
  decode(message: Message, { maxPayloadItems }: DecodeLimits = DEFAULT_LIMITS): CompleteFrame {
    const bytes = binary(message);
    const frame = decodeCanonical(bytes, maxPayloadItems, this.#generally);
    if (frame !== null) return frame;
    // The envelope adds one level around its payload.
    const mapping = this.#decoder.decode(bytes, { maxDepth: MAX_DEPTH + 1, maxItems: maxPayloadItems, envelope: true });
    if (isPlainObject(mapping) && mapping['fragment'] instanceof Uint8Array) mapping['fragment'] = mapping['fragment'].buffer;
    return fromMapping(mapping);
  }

  /**
   * Encodes a payload. Returns a separate buffer of exactly its length.
   *
   * @throws TypeError for a value that msgpack cannot represent, naming its place; also whatever else the msgpack library throws
   */
  encodePayload(payload: unknown): ArrayBuffer {
    return unpacked(this.packPayload(payload));
  }

  /**
   * Encodes a payload. On Node a small one is a view of memory that other payloads share.
   *
   * @throws TypeError as {@link encodePayload} does
   */
  packPayload(payload: unknown): ArrayBuffer | Uint8Array {
    const plain = encodePlain(payload);
    if (plain !== null) return plain;
    const { buffer } = this.#encoder.encode(plainCopy(payload, 'payload'));
    // The encoder keeps a buffer of twice the size of the largest value that it ever encoded. The decoder keeps its last message.
    if (buffer.byteLength > KEPT_BYTES) this.#encoder = newEncoder();
    return buffer;
  }

  /**
   * Decodes a reassembled payload.
   *
   * @param limits how many items it may have; by default 1 000 000
   * @throws ProtocolError for text, and for bytes that are not one msgpack value or exceed a limit; the message quotes
   *   nothing of the content
   */
  decodePayload(data: Message, { maxPayloadItems }: DecodeLimits = DEFAULT_LIMITS): unknown {
    const bytes = binary(data);
    const value = decodePlain(bytes, maxPayloadItems);
    return value === NOT_PLAIN ? this.#generally(bytes, maxPayloadItems) : value;
  }

  /** Bytes of memory that a decoded payload takes, estimated from above. */
  weigh(payload: unknown): number {
    return weightOf(payload);
  }

  /** Whether an entry of headers arrives unchanged, as most text, numbers, booleans and `null` do. The key is never `__proto__`. */
  carries(key: string, value: unknown): boolean {
    return carriesEntry(key, value) && isWellFormed(key) && (typeof value !== 'string' || isWellFormed(value));
  }

  /** Returns the bytes of a slice, plus the growth of the header of its bin: 2 bytes for up to 255 bytes, 3 for up to 65 535, then 5. */
  fragmentCost(_encodedPayload: Message, from: number, to: number): number {
    const length = to - from;
    return length + (length <= 0xff ? 0 : length <= 0xffff ? 1 : 3);
  }

  readonly #generally = (bytes: Uint8Array, maxItems: number): unknown =>
    this.#decoder.decode(bytes, { maxDepth: MAX_DEPTH, maxItems, envelope: false });
}

function binary(message: Message): Uint8Array {
  if (typeof message === 'string') throw malformed('expected bytes, got text');
  return bytesOf(message);
}

function newEncoder(): Encoder {
  return new Encoder({ extensionCodec: TIMESTAMPS_ONLY });
}

function isWellFormed(text: string): boolean {
  return wellFormed(text) === text;
}

/**
 * Returns an envelope for the encoder, with checked copies of headers and trailers. The payload is checked elsewhere.
 *
 * @throws TypeError for headers or trailers that msgpack cannot represent
 */
function checkedMapping(frame: Frame): Record<string, unknown> {
  const mapping = toMapping(frame);
  for (const { key, kind } of IN_ENVELOPE_ORDER) {
    const value = mapping[key];
    if (value === undefined || kind === 'payload') continue;
    if (kind === 'metadata') mapping[key] = metadataCopy(value as Metadata, key);
    else if (typeof value === 'string') mapping[key] = wellFormed(value);
    else if (isArrayBuffer(value)) mapping[key] = new Uint8Array(value);
  }
  return mapping;
}
