import { Encoder } from '@msgpack/msgpack';
import type { Codec, Message } from '../wire/codec.js';
import { isArrayBuffer } from '../wire/cross-realm.js';
import { IN_ENVELOPE_ORDER } from '../wire/fields.js';
import { joinBytes } from '../wire/fragments.js';
import { ABSENT, payloadFrame } from '../wire/frame.js';
import type { CompleteFrame, Frame, Metadata } from '../wire/frame.js';
import { DEFAULT_LIMITS } from '../wire/limits.js';
import type { DecodeLimits } from '../wire/limits.js';
import { fromMapping, toMapping } from '../wire/mapping.js';
import { isPlainObject } from '../wire/plain-object.js';
import { bytesOf } from './bytes-of.js';
import { carriesEntry } from './flat.js';
import { encodeBulk } from './msgpack-bulk.js';
import { encodeCanonical, readCanonical } from './msgpack-canonical.js';
import { KEPT_BYTES, MsgpackDecoder } from './msgpack-decoder.js';
import { TIMESTAMPS_ONLY } from './msgpack-timestamps.js';
import { MAX_DEPTH, metadataCopy, plainCopy } from './plain-copy.js';
import { malformed } from './prescan.js';
import type { PrescanLimits } from './prescan.js';
import { weightOf } from './weight.js';
import { wellFormed } from './well-formed.js';

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
    if (payload === undefined || payload === ABSENT) return this.#encoder.encode(checkedMapping(frame)).buffer;
    return this.encodeWith(frame, this.encodePayload(payload));
  }

  /**
   * Encodes a frame around its payload's bytes, and does not read `frame.payload`.
   *
   * @throws TypeError as {@link encode} does, and for a payload that is text
   */
  encodeWith(frame: Frame, encodedPayload: Message): ArrayBuffer {
    if (typeof encodedPayload === 'string') throw new TypeError(`codec 'msgpack': expected the encoded payload as bytes, got text`);
    const payload = new Uint8Array(encodedPayload);
    return encodeCanonical(frame, payload) ?? this.#joined(frame, payload.buffer);
  }

  /**
   * Returns the bytes before and behind a frame's payload, or its fragment. Each is a separate buffer of exactly its length.
   *
   * @throws TypeError as {@link encode} does
   */
  encodeAround(frame: Frame): readonly [before: ArrayBuffer, behind: ArrayBuffer] {
    const before = encodeCanonical(frame, NOTHING);
    return before === null ? this.#around(frame, frame.fragment == null ? 'payload' : 'fragment') : [before, NOTHING.buffer];
  }

  #joined(frame: Frame, payload: ArrayBuffer): ArrayBuffer {
    const [before, behind] = this.#around(frame, 'payload');
    return joinBytes([before, payload, behind], before.byteLength + payload.byteLength + behind.byteLength);
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
    const frame = this.#decodeCanonical(bytes, maxPayloadItems);
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
    const bulk = encodeBulk(payload);
    if (bulk !== null) return bulk;
    const { buffer } = this.#encoder.encode(plainCopy(payload, 'payload'));
    // The encoder keeps a buffer of twice the size of the largest value that it ever encoded.
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
    return this.#decoder.decode(binary(data), payloadLimits(maxPayloadItems));
  }

  /** Bytes of memory that a decoded payload takes, estimated from above. */
  weigh(payload: unknown): number {
    return weightOf(payload);
  }

  /** Whether an entry of headers arrives unchanged, as most text, numbers, booleans and `null` do. The key is never `__proto__`. */
  carries(key: string, value: unknown): boolean {
    return carriesEntry(key, value) && isWellFormed(key) && (typeof value !== 'string' || isWellFormed(value));
  }

  /** Returns the bytes of a slice, plus the growth of the header of its bin. */
  fragmentCost(_encodedPayload: Message, from: number, to: number): number {
    const length = to - from;
    return length + headerGrowth(length);
  }

  /** Returns `null` for any other message, which may be valid or not: then the whole message is decoded. */
  #decodeCanonical(bytes: Uint8Array, maxPayloadItems: number): CompleteFrame | null {
    const envelope = readCanonical(bytes);
    if (envelope === null) return null;
    const { type, stream, end, headers, items, payloadAt } = envelope;
    const maxItems = maxPayloadItems - items;
    if (maxItems < 1) return null;
    try {
      return payloadFrame(type, stream, end, this.#decoder.decode(bytes.subarray(payloadAt), payloadLimits(maxItems)), headers);
    } catch {
      return null;
    }
  }
}

// The header of a bin is 2 bytes for up to 255 bytes, 3 for up to 65 535, then 5.
function headerGrowth(length: number): number {
  return length <= 0xff ? 0 : length <= 0xffff ? 1 : 3;
}

const NOTHING = new Uint8Array();

function payloadLimits(maxItems: number): PrescanLimits {
  return { maxDepth: MAX_DEPTH, maxItems, envelope: false };
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
