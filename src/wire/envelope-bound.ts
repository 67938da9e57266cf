import type { Codec, Message } from './codec.js';
import { hasFragmentCost } from './fragment-cost.js';
import type { Frame, Metadata } from './frame.js';
import { fitsWithin } from './length.js';
import { isPlainObject } from './plain-object.js';

/**
 * Whether a frame surely fits without being encoded, as nearly all do; its id does not matter. A codec without `fragmentCost` is trusted
 * to write at most eight times as many bytes as JSON. So no frame is encoded only to be measured.
 */
export function isSmall(frame: Frame, encodedPayload: Message | null, cap: number, codec: Codec): boolean {
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
