/**
 * Whether `size` bytes from `from` on are well-formed UTF-8. There must be no overlong form, no half of a surrogate pair, nothing above
 * U+10FFFF, and no incomplete code point. All of these bytes must exist.
 *
 * @example
 * ```ts
 * isUtf8(Uint8Array.of(0x61, 0xc3, 0xa9), 0, 3);   // true: 'aé'
 * isUtf8(Uint8Array.of(0x61, 0xc3, 0xa9), 0, 2);   // false: the é ends too early
 * ```
 */
export function isUtf8(bytes: Uint8Array, from: number, size: number): boolean {
  const end = from + size;
  if (size > BYTE_BY_BYTE && platformCheck !== null) return platformCheck(bytes.subarray(from, end));
  let at = from;
  while (at < end) {
    const length = isWithin(bytes[at], 0, 0x7f) ? 1 : sequenceLength(bytes, at);
    at += length;
    if (length === 0 || at > end) return false;
  }
  return true;
}

// A platform call takes 0.1 µs. In that time a loop checks some hundred bytes of ASCII.
const BYTE_BY_BYTE = 128;
// The decoder makes a text, which is discarded. Decoding 16 MiB of ASCII in one piece takes four times as long as in pieces.
const PIECE = 65_536;
const platformCheck = nodeCheck() ?? decoderCheck();

type Check = (bytes: Uint8Array) => boolean;

/** The part of `process` that Node, Deno and Bun share. A page may have no `process`, or a stand-in. */
interface Platform {
  readonly process?: { getBuiltinModule?(id: string): { isUtf8?: Check } | undefined };
}

// This check makes no text. Beyond ASCII it takes a hundredth of the time of the decoder in Node 20.
function nodeCheck(): Check | undefined {
  return (globalThis as Platform).process?.getBuiltinModule?.('node:buffer')?.isUtf8;
}

// Stand-ins for a platform's decoder, as in React Native, often cannot refuse: some throw at the option, some ignore it.
function decoderCheck(): Check | null {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.fatal ? (bytes) => isDecodable(decoder, bytes) : null;
  } catch {
    return null;
  }
}

// The whole is well-formed if each piece is.
function isDecodable(decoder: TextDecoder, bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length;) {
    const to = bytes.length - at > PIECE ? edgeBefore(bytes, at + PIECE) : bytes.length;
    try {
      decoder.decode(bytes.subarray(at, to));
    } catch {
      return false;
    }
    at = to;
  }
  return true;
}

/** Returns the start of the code point around `at`; a nearby position if `at` is in no code point. */
function edgeBefore(bytes: Uint8Array, at: number): number {
  let edge = at;
  while (isContinuation(bytes[edge]) && edge > at - MOST_CONTINUATIONS) edge -= 1;
  return edge;
}

const MOST_CONTINUATIONS = 3;

/** Returns the bytes of the code point beyond ASCII that begins at `at`; 0 if none begins there. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at];
  const length = isWithin(lead, 0xc2, 0xdf) ? 2 : isWithin(lead, 0xe0, 0xef) ? 3 : isWithin(lead, 0xf0, 0xf4) ? 4 : 0;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (!isWithin(bytes[at + 1], least, most)) return 0;
  for (let next = at + 2; next < at + length; next++) if (!isContinuation(bytes[next])) return 0;
  return length;
}

function isContinuation(byte: number | undefined): boolean {
  return isWithin(byte, 0x80, 0xbf);
}

function isWithin(byte: number | undefined, least: number, most: number): boolean {
  return byte !== undefined && byte >= least && byte <= most;
}
