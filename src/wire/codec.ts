import { isArrayBuffer, optionError } from '../util/check.js';
import type { Frame } from './frame.js';
import type { DecodeLimits } from './limits.js';

/** One encoded WebSocket message, or an encoded payload: text under a text codec, bytes under a binary one. */
export type Message = string | ArrayBuffer;

/** An encoded payload. A view is a part of a pool: its bytes do not change, and it keeps the pool in memory. */
export type PackedPayload = Message | Uint8Array;

/**
 * Turns a frame into one message and back. Any object with these members is a codec; there is no base class.
 *
 * Decoders throw `ProtocolError` for input they cannot parse, encoders throw `TypeError` for a value they cannot represent.
 *
 * A codec returns bytes as an `ArrayBuffer`, one of its own for each message. The library copies a view, and refuses a codec that returns
 * a pooled `ArrayBuffer` again. A frame takes at most eight times as many bytes as its JSON.
 */
export interface Codec {
  /** Wire name: the subprotocol is `mux.v1.<name>`. */
  readonly name: string;
  /**
   * Whether messages are binary. The codec declares this, and nothing infers it. The library sends, and expects, messages of this kind
   * only.
   */
  readonly binary: boolean;
  /** Encodes one frame to one message. Omits fields at their default. The order of keys is `type`, `stream`, then alphabetical. */
  encode(frame: Frame): Message;
  /**
   * Decodes one message to one frame. Drops unknown keys and keeps an unknown type.
   *
   * On Node a short message may be a slice of a text of up to 64 KiB. A substring that you keep pins that whole text, so copy it;
   * `JSON.parse` copies.
   *
   * @param limits the sizes that the receiver accepts. A codec that can decode few bytes to far more memory throws a `ProtocolError`
   *   beyond them. Other codecs may leave the parameter out. Default `DEFAULT_LIMITS`
   */
  decode(message: Message, limits?: DecodeLimits): Frame;
  /** Encodes a payload to exactly the bytes that {@link encode} writes in a frame's payload position. */
  encodePayload(payload: unknown): Message;
  /**
   * Encodes as {@link encodePayload} does. Bytes may be a view of memory that several payloads share; they do not change later.
   *
   * Optional: with it a small payload that is sent at once needs no `ArrayBuffer`, which costs more than its encoding. The library copies
   * a view that has to wait. It does not call this on a subclass that overrides {@link encodePayload}.
   */
  packPayload?(payload: unknown): Message | Uint8Array;
  /** Decodes a reassembled payload, within the same limits as {@link decode}. */
  decodePayload(data: Message, limits?: DecodeLimits): unknown;
  /**
   * Bytes of memory that a decoded payload takes, estimated from above. Optional: without it a payload that has to wait counts by its
   * encoded size.
   */
  weigh?(payload: unknown): number;
  /**
   * Encodes `frame` around its already encoded payload, so that a payload is encoded once, and does not read `frame.payload`. Optional:
   * without it {@link decodePayload} restores the payload for {@link encode}. A codec with {@link packPayload} gets its views, too.
   */
  encodeWith?(frame: Frame, encodedPayload: Message | Uint8Array): Message;
  /**
   * Returns what {@link encode} writes before and behind the payload of a frame, or its fragment. Reads neither. The codec promises to
   * write a fragment as {@link encodePayload} writes it.
   *
   * Optional: with it `rxmux/node` makes the bytes of a shared payload once for many connections. A subclass does not split if it
   * overrides {@link encode}, {@link encodeWith} or {@link encodePayload} without this method.
   *
   * @example
   * ```ts
   * codec.encodeAround({ type: 'data', stream: 1 });   // ['{"type":"data","stream":1,"payload":', '}'] under `json`
   * ```
   */
  encodeAround?(frame: Frame): readonly [before: Message, behind: Message];
  /**
   * Encodes as {@link encodeWith} does, into memory that the next call of this codec overwrites. Returns `null` for a frame that only
   * {@link encodeWith} encodes.
   *
   * Optional: with it `rxmux/node` copies a small message at once, and makes no `ArrayBuffer` for it. The library does not call it on a
   * subclass that overrides {@link encode} or {@link encodeWith}.
   */
  lend?(frame: Frame, encodedPayload: Message | Uint8Array): Uint8Array | null;
  /**
   * Whether an entry of headers or trailers is text, a number, a boolean or `null` that arrives unchanged. The key is never `__proto__`.
   *
   * Optional: without it the library encodes and decodes headers at their call, which finds errors and keeps them as they were. With it
   * most headers are only copied at their call. The library does not ask a subclass that overrides `encodePayload` or `decodePayload`.
   */
  carries?(key: string, value: unknown): boolean;
  /**
   * Returns the bytes that the slice from `from` to `to` of an encoded payload adds to a message whose fragment is empty. Positions
   * count UTF-16 units of text, or bytes. Each unit costs one byte or more. The cost of a text is the sum of the costs of its parts.
   *
   * Optional: with it the library cuts frames by arithmetic. Without it the library encodes some fragments until one fits, for each
   * slice. A subclass has no cost if it overrides {@link encode} or {@link encodeWith} without this method.
   *
   * A codec with a cost also promises the size of its envelopes. Without the payload an envelope takes at most 256 bytes. Each unit of
   * text adds at most 6 bytes, keys of headers and trailers included. Each entry of headers and trailers adds at most 32.
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
 * Whether a class of the codec declares `member` no further up than `encoder`. Otherwise a subclass or a wrapper has overridden the
 * encoder, and `member` describes the output of another class.
 */
export function isNearer(codec: Codec, member: keyof Codec, encoder: keyof Codec): boolean {
  let level: unknown = codec;
  while (!Object.hasOwn(level as object, member)) {
    if (Object.hasOwn(level as object, encoder)) return false;
    level = Object.getPrototypeOf(level);
  }
  return true;
}

/**
 * @throws TypeError for a value that is no codec, such as the name of a codec. Also for a codec that returns one buffer for two messages:
 *   the second message would overwrite the first, which may not have left yet.
 */
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
  if (codec.binary && !vetted.has(codec) && reuses(codec))
    throw new TypeError(
      `codec '${codec.name}': expected each message in an ArrayBuffer of its own, got the same buffer for two messages; ` +
        'return a copy of the bytes, such as bytes.slice().buffer',
    );
  vetted.add(codec);
  return codec;
}

/** A codec is tried once, and not for each connection. */
const vetted = new WeakSet<Codec>();

/** Whether a codec returns the same buffer for two payloads. `false` for a codec that fails: its error belongs to the call that sends. */
function reuses(codec: Codec): boolean {
  try {
    const first: unknown = codec.encodePayload(0);
    return isArrayBuffer(first) && first === (codec.encodePayload(1) as unknown);
  } catch {
    return false;
  }
}

/**
 * Checks a codec's output: a user's codec may return anything, such as a promise. Unchecked, it would be sent as text or count as no
 * payload. Copies a view, because its buffer may be a pool: the next message would overwrite the bytes.
 *
 * @throws TypeError for an output that is neither text nor bytes
 */
export function checkedMessage(codec: Codec, message: Message): Message {
  if (typeof message === 'string' || isArrayBuffer(message)) return message;
  const view: unknown = message;
  if (ArrayBuffer.isView(view)) return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice().buffer;
  throw optionError(`codec '${codec.name}'`, 'text or bytes to be encoded', message);
}

/**
 * Encodes a payload, into the codec's pool if it has one.
 *
 * @throws TypeError for a value that the codec cannot represent, and for an output that is neither text nor bytes
 */
export function packedPayload(codec: Codec, payload: unknown): PackedPayload {
  if (codec.packPayload === undefined || !isNearer(codec, 'packPayload', 'encodePayload'))
    return checkedMessage(codec, codec.encodePayload(payload));
  const packed = codec.packPayload(payload);
  return ArrayBuffer.isView(packed) ? packed : checkedMessage(codec, packed);
}

/** Returns the payload without its pool: copies a view. */
export function unpacked<T>(packed: T | Uint8Array): T | ArrayBuffer {
  // Not `slice`: a Buffer's own copies nothing.
  return packed instanceof Uint8Array ? new Uint8Array(packed).buffer : packed;
}

/** The prefix of every subprotocol of this wire generation: `mux.v1.`. */
export const PREFIX = 'mux.v1.';

/**
 * Returns the subprotocol for a codec: the only entry that a dialer offers, and the only one that an acceptor takes.
 *
 * @example
 * ```ts
 * subprotocol({ name: 'json' });   // 'mux.v1.json'
 * ```
 */
export function subprotocol(codec: { readonly name: string }): string {
  return PREFIX + codec.name;
}

/**
 * Whether a `Sec-WebSocket-Protocol` header names exactly `expected` in first place. Case matters. Later entries are free, so a dialer
 * may add some of its own.
 *
 * @param offered the header's value, with header lines joined by commas; `undefined` if there was none
 */
export function offersFirst(offered: string | undefined, expected: string): boolean {
  return offered?.split(',', 1)[0]?.trim() === expected;
}

/** Returns the bytes that the slice between two positions of an encoded payload costs: see `Codec.fragmentCost`. */
export type FragmentCost = (from: number, to: number) => number;

/** Whether a codec has a cost of fragments and writes fragments itself. A subclass or a wrapper may write something else. */
export function hasFragmentCost(codec: Codec): codec is Codec & Required<Pick<Codec, 'fragmentCost'>> {
  return codec.fragmentCost !== undefined && isNearer(codec, 'fragmentCost', 'encode') && isNearer(codec, 'fragmentCost', 'encodeWith');
}

/** Records that the slice of a fragment frame is plain, as `FragmentCut` says: to check again would cost as much as sending the slice. */
export function markPlain(frame: Frame, codec: Codec): void {
  PLAIN.set(frame, codec);
}

/** Whether the slice of a frame is plain to the codec for which it was cut. */
export function isPlain(frame: Frame): boolean {
  return PLAIN.has(frame);
}

/** Whether `codec` writes the slice of a frame unchanged. */
export function isPlainTo(codec: Codec, frame: Frame): boolean {
  return PLAIN.get(frame) === codec;
}

const PLAIN = new WeakMap<Frame, Codec>();
