import { isPlainObject } from '../util/check.js';
import { checkedMessage, hasFragmentCost, isNearer, unpacked } from './codec.js';
import type { Codec, Message, PackedPayload } from './codec.js';
import { ABSENT } from './frame.js';
import type { CompleteFrame, Frame, Metadata } from './frame.js';
import { fitsWithin } from './length.js';
import type { DecodeLimits } from './limits.js';

/**
 * A frame whose payload was encoded when the caller passed it. So the frame carries the value as it was at the call. The payload is
 * encoded once, however often the frame is measured or cut. Observers see an ordinary frame.
 *
 * Each frame has one, which travels all the way to the socket. `stream` is set when a socket takes its stream.
 */
export class OutgoingFrame implements CompleteFrame {
  readonly type: string;
  stream: number | null;
  readonly payload: unknown;
  readonly fragment = null;
  readonly more = false;
  readonly headers: Readonly<Metadata> | null;
  readonly end: boolean;
  readonly trailers: Readonly<Metadata> | null;
  readonly code: number | null;
  readonly reason: string | null;
  readonly nonce: string | null;
  readonly last_stream: number | null;
  #encodedPayload: PackedPayload | null;
  readonly #codec: Codec | null;
  readonly #source: unknown;
  readonly #isSmall: boolean;

  constructor(frame: Frame, encodedPayload: null);
  /**
   * @param codec the codec that encoded the payload
   * @param source the value that was encoded, or the object around it that several frames share
   */
  constructor(frame: Frame, encodedPayload: PackedPayload | null, codec: Codec, source?: unknown, isSmall?: boolean);
  constructor(frame: Frame, encodedPayload: PackedPayload | null, codec: Codec | null = null, source: unknown = null, isSmall = false) {
    this.type = frame.type;
    this.stream = frame.stream ?? null;
    this.payload = encodedPayload === null ? ABSENT : frame.payload;
    this.headers = frame.headers ?? null;
    this.end = frame.end ?? false;
    this.trailers = frame.trailers ?? null;
    this.code = frame.code ?? null;
    this.reason = frame.reason ?? null;
    this.nonce = frame.nonce ?? null;
    this.last_stream = frame.last_stream ?? null;
    this.#encodedPayload = encodedPayload;
    this.#codec = codec;
    this.#source = source;
    this.#isSmall = isSmall;
  }

  /** Whether its sender found that it fits a message under any id. */
  get isSmall(): boolean {
    return this.#isSmall;
  }

  /** A rough length of the encoded payload, exact enough for sharing turns. It does not measure text. */
  get roughBytes(): number {
    const encoded = this.#encodedPayload ?? '';
    return typeof encoded === 'string' ? encoded.length : encoded.byteLength;
  }

  /** The value that was encoded, or the object around it that several frames share. */
  get source(): unknown {
    return this.#source;
  }

  /** Copies its payload out of a pool. A frame that waits would keep that pool in memory. */
  unpack(): void {
    this.#encodedPayload = unpacked(this.#encodedPayload);
  }

  /**
   * Returns the payload's encoded form; `null` for a frame without payload, or that was not prepared here.
   *
   * @param codec the only codec whose form counts, because an operator of a user may have another codec; default any
   */
  static encodedPayload(frame: Frame, codec?: Codec): PackedPayload | null {
    return #encodedPayload in frame && (codec ?? frame.#codec) === frame.#codec ? frame.#encodedPayload : null;
  }
}

/** Returns the encoded payload or the fragment of a frame; `null` if it is nothing but its envelope. */
export function encodedPartOf(frame: Frame): PackedPayload | null {
  return frame.fragment ?? OutgoingFrame.encodedPayload(frame);
}

// No limit: this side had the value in memory when it encoded the value.
const OWN: DecodeLimits = { maxPayloadItems: Infinity };

/** Encodes one frame to one message, and reuses the payload that this codec has encoded. */
export function encodeFrame(frame: Frame, codec: Codec): Message {
  return frameEncoder(codec)(frame);
}

/** {@link encodeFrame} for many frames of one codec, which is inspected once. */
export function frameEncoder(codec: Codec): (frame: Frame) => Message {
  const joining = joins(codec) ? codec : null;
  return (frame) => {
    const encoded = OutgoingFrame.encodedPayload(frame, codec);
    if (encoded === null) return checkedMessage(codec, codec.encode(frame));
    if (joining !== null) return checkedMessage(codec, joining.encodeWith(frame, encoded));
    return checkedMessage(codec, codec.encode({ ...frame, payload: codec.decodePayload(unpacked(encoded), OWN) }));
  };
}

/** Whether `encodeWith` may replace `encode`. Not if a subclass or a wrapper overrides only `encode`, which would be bypassed. */
function joins(codec: Codec): codec is Codec & Required<Pick<Codec, 'encodeWith'>> {
  return codec.encodeWith !== undefined && isNearer(codec, 'encodeWith', 'encode');
}

/**
 * Whether a frame surely fits without being encoded, as nearly all do; its id does not matter. A codec without `fragmentCost` is trusted
 * to write at most eight times as many bytes as JSON. So no frame is encoded only to be measured.
 */
export function isSmall(frame: Frame, encodedPayload: PackedPayload | null, cap: number, codec: Codec): boolean {
  const payload = encodedPayload ?? '';
  const bound = envelopeBound(frame);
  // Nearly all frames are small enough under any codec: then do not inspect the codec.
  return fitsWithin(payload, cap / MOST_TIMES_JSON - bound) || (hasFragmentCost(codec) && fitsWithin(payload, cap - bound));
}

/**
 * The most bytes that the envelope of a frame takes without its payload, in any codec with a `fragmentCost`. It is 256, plus 6 for each
 * UTF-16 unit of its texts and keys, plus 32 for each entry of its headers and trailers.
 *
 * It is `Infinity` for a fragment, for headers that hold more than scalars, and for values that a codec may refuse. Only encoding
 * measures these.
 */
export function envelopeBound(frame: Frame): number {
  if (frame.fragment != null) return Infinity;
  const units = frame.type.length + (frame.reason?.length ?? 0) + (frame.nonce?.length ?? 0);
  const bound = KEYS_NUMBERS_AND_FLAGS + units * MOST_BYTES_PER_UNIT;
  if (frame.headers == null && frame.trailers == null) return bound;
  return bound + metadataBound(frame.headers) + metadataBound(frame.trailers);
}

function metadataBound(metadata: Readonly<Metadata> | null | undefined): number {
  if (metadata == null) return 0;
  if (!isPlainObject(metadata)) return Infinity;
  let bound = 0;
  // Counts inherited keys too, which only raises the bound. `Object.keys` would make an array for each frame.
  for (const key in metadata) bound += key.length * MOST_BYTES_PER_UNIT + entryBound(key, metadata[key]);
  return bound;
}

// Infinity for every value that a codec may refuse. So the codec refuses it when the frame is measured, not later when it is sent.
function entryBound(key: string, value: unknown): number {
  if (key === '__proto__') return Infinity;
  if (typeof value === 'string') return SEPARATORS_AND_SCALAR + value.length * MOST_BYTES_PER_UNIT;
  const isScalar = value === null || typeof value === 'boolean' || Number.isFinite(value);
  return isScalar ? SEPARATORS_AND_SCALAR : Infinity;
}

/** The size of an escape such as `\u0000`. */
const MOST_BYTES_PER_UNIT = 6;
const KEYS_NUMBERS_AND_FLAGS = 256;
const SEPARATORS_AND_SCALAR = 32;
const MOST_TIMES_JSON = 8;
