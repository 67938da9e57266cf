import type { Frame } from './frame.js';
import { optionError } from './check.js';
import { isArrayBuffer } from './cross-realm.js';
import type { DecodeLimits } from './limits.js';

/** One encoded WebSocket message, or an encoded payload: text under a text codec, bytes under a binary one. */
export type Message = string | ArrayBuffer;

/**
 * Turns a frame into one message and back. Any object with these members is a codec; there is no base class.
 *
 * Decoders throw `ProtocolError` for input they cannot parse, encoders throw `TypeError` for a value they cannot represent.
 *
 * A codec returns bytes as an `ArrayBuffer`, not as a view of one. A frame takes at most eight times what JSON would write.
 */
export interface Codec {
  /** Wire name: the subprotocol is `mux.v1.<name>`. */
  readonly name: string;
  /** Whether messages are binary. Declared, never inferred: it chooses how to send and which kind of message to expect. */
  readonly binary: boolean;
  /** One frame to one message: fields at their default omitted, keys in the order `type`, `stream`, then alphabetical. */
  encode(frame: Frame): Message;
  /**
   * One message to one frame: unknown keys dropped, an unknown type kept. On Node a short text is a piece of all that was read with it, up
   * to 64 KiB, which stays in memory as long as anything that is cut out of that text and not copied; `JSON.parse` copies.
   *
   * @param limits what the receiver puts up with: more is a `ProtocolError` of a codec that can decode to far more memory
   *   than it was given bytes; others may leave it out. Default `DEFAULT_LIMITS`
   */
  decode(message: Message, limits?: DecodeLimits): Frame;
  /** Encodes a payload to exactly the bytes that {@link encode} writes in a frame's payload position. */
  encodePayload(payload: unknown): Message;
  /** Decodes a reassembled payload, within the same limits as {@link decode}. */
  decodePayload(data: Message, limits?: DecodeLimits): unknown;
  /**
   * Bytes of memory that a decoded payload takes, estimated from above. Optional: without it a payload that has to wait
   * counts as it was encoded.
   */
  weigh?(payload: unknown): number;
  /**
   * Encodes `frame` around its already encoded payload, so that a payload is encoded once. Optional: without it the
   * payload is restored by {@link decodePayload} and given to {@link encode}. `frame.payload` is not looked at.
   */
  encodeWith?(frame: Frame, encodedPayload: Message): Message;
  /**
   * Returns the bytes that the slice from `from` to `to` of an encoded payload adds to a message whose fragment is empty. Positions
   * count UTF-16 units of text, or bytes. Each unit costs one byte or more. The cost of a text is the sum of the costs of its parts.
   *
   * Optional: with it frames are cut by arithmetic. Without it the library encodes some fragments until one fits, for each slice.
   * A subclass that overrides {@link encode} or {@link encodeWith} and not this has no cost.
   *
   * A codec with a cost promises the size of its envelopes, too. Without the payload it is at most 256 bytes, 6 more for each unit
   * of text, keys of headers and trailers included, and 32 more for each of their entries.
   *
   * @example
   * ```ts
   * codec.fragmentCost('{"a":1}', 0, 4);              // 6 under `json`: two quotes are escaped
   * codec.fragmentCost(new ArrayBuffer(300), 0, 300); // 301 under `msgpack`: the header grows by a byte
   * ```
   */
  fragmentCost?(encodedPayload: Message, from: number, to: number): number;
}

/**
 * Whether a class of the codec declares `member` no further up than `encoder`. Otherwise a subclass or a wrapper has overridden
 * the encoder, and `member` belongs to what another class writes.
 */
export function isNearer(codec: Codec, member: keyof Codec, encoder: keyof Codec): boolean {
  let level: unknown = codec;
  while (!Object.hasOwn(level as object, member)) {
    if (Object.hasOwn(level as object, encoder)) return false;
    level = Object.getPrototypeOf(level);
  }
  return true;
}

/** @throws TypeError for what is no codec, such as the name of one */
export function checkedCodec(codec: Codec): Codec {
  const given: unknown = codec;
  const expected = 'a codec, such as new JsonCodec()';
  const isCodec =
    typeof given === 'object' &&
    given !== null &&
    typeof codec.encode === 'function' &&
    typeof codec.decode === 'function' &&
    typeof codec.encodePayload === 'function' &&
    typeof codec.decodePayload === 'function';
  if (!isCodec) throw optionError('codec', expected, given);
  const lacks = typeof codec.name !== 'string' ? 'a name' : typeof codec.binary !== 'boolean' ? 'binary' : null;
  if (lacks !== null) throw new TypeError(`codec: expected ${expected}, got one without ${lacks}`);
  return codec;
}

/**
 * What a codec has encoded. One of somebody's may give anything, a promise for example, which would otherwise be sent as text or be
 * taken for no payload.
 *
 * @throws TypeError for what is neither text nor bytes
 */
export function checkedMessage(codec: Codec, message: Message): Message {
  if (typeof message === 'string' || isArrayBuffer(message) || ArrayBuffer.isView(message)) return message;
  throw optionError(`codec '${codec.name}'`, 'text or bytes to be encoded', message);
}
