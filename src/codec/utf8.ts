/**
 * Whether `size` bytes from `from` on, which must all be there, are well-formed UTF-8: no overlong form, no half of a
 * surrogate pair, nothing above U+10FFFF, nothing cut off.
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

// A call of the platform takes 0.1 µs, in which a loop comes through some hundred bytes of ASCII.
const BYTE_BY_BYTE = 128;
// The decoder makes a text, which is thrown away: 16 MiB of ASCII in one piece take it four times as long as in pieces.
const PIECE = 65_536;
const platformCheck = nodeCheck() ?? decoderCheck();

type Check = (bytes: Uint8Array) => boolean;

/** What Node, Deno and Bun have of `process`; a page may have none, or a stand-in. */
interface Platform {
  readonly process?: { getBuiltinModule?(id: string): { isUtf8?: Check } | undefined };
}

// It makes no text: beyond ASCII it takes a hundredth of what the decoder of Node 20 takes.
function nodeCheck(): Check | undefined {
  return (globalThis as Platform).process?.getBuiltinModule?.('node:buffer')?.isUtf8;
}

// Decoders that stand in for a platform's own, as in React Native, often cannot refuse: some throw at the option, some ignore it.
function decoderCheck(): Check | null {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.fatal ? (bytes) => isDecodable(decoder, bytes) : null;
  } catch {
    return null;
  }
}

// Pieces that are each well-formed make a whole that is.
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

/** Where the code point begins that `at` stands in; not far from there when it stands in none. */
function edgeBefore(bytes: Uint8Array, at: number): number {
  let edge = at;
  while (isContinuation(bytes[edge]) && edge > at - MOST_CONTINUATIONS) edge -= 1;
  return edge;
}

const MOST_CONTINUATIONS = 3;

/** Bytes of the code point beyond ASCII that begins at `at`; 0 when none does. */
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
