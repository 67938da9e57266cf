import { encodeInto } from '../wire/encode-into.js';
import { edgeBefore, encodedLength, MOST_BYTES_PER_UNIT } from '../wire/length.js';

/**
 * Returns the bytes of a slice of JSON between the quotes of a JSON string, where its quotes and backslashes are escaped. Nothing else
 * needs an escape: JSON has already escaped control characters and halves of surrogate pairs.
 */
export function quotedLength(json: string): number {
  // Three native searches are many times faster than any loop or pattern.
  if (!json.includes('"') && !json.includes('\\') && encodedLength(json) === json.length) return json.length;
  let length = 0;
  for (let from = 0; from < json.length;) {
    const to = edgeBefore(json, Math.min(from + PIECE, json.length));
    length += pieceLength(json.slice(from, to));
    from = to;
  }
  return length;
}

function pieceLength(piece: string): number {
  const { written } = encodeInto(piece, BYTES);
  BYTES.fill(0, written, written + WORD_BYTES);
  let escapes = 0;
  for (let at = 0; at * WORD_BYTES < written; at++) {
    const word = Number(WORDS[at]);
    escapes += count(word ^ QUOTES) + count(word ^ BACKSLASHES);
  }
  return written + escapes;
}

/** Returns how many bytes of a word are zero. */
function count(word: number): number {
  // Sets the top bit of each zero byte, and no other bit.
  const zeros = ~(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS);
  return Math.imul(zeros >>> 7, 0x01010101) >>> 24;
}

const WORD_BYTES = 4;
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const LOW_BITS = 0x7f7f7f7f;
const PIECE = 1_024;
const BYTES = new Uint8Array(PIECE * MOST_BYTES_PER_UNIT + WORD_BYTES);
const WORDS = new Int32Array(BYTES.buffer);
