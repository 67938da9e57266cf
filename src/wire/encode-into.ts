/** The number of encoded UTF-16 units of a text, and of the bytes that they took. */
interface Encoded {
  readonly read: number;
  readonly written: number;
}

/**
 * Encodes text as UTF-8 into `bytes`, as far as whole code points fit. Half of a surrogate pair becomes its replacement character, as
 * with `TextEncoder`. Some platforms have no `TextEncoder`: jsdom within a test runner, and some embedded engines.
 */
export const encodeInto: (text: string, bytes: Uint8Array) => Encoded =
  typeof TextEncoder === 'function' ? nativeEncodeInto(new TextEncoder()) : encodeIntoByHand;

function nativeEncodeInto(encoder: TextEncoder): typeof encodeInto {
  return (text, bytes) => encoder.encodeInto(text, bytes);
}

/** {@link encodeInto} where the platform has no `TextEncoder`. */
export function encodeIntoByHand(text: string, bytes: Uint8Array): Encoded {
  let read = 0;
  let written = 0;
  for (const character of text) {
    const encoded = utf8Of(Number(character.codePointAt(0)));
    if (written + encoded.length > bytes.length) break;
    bytes.set(encoded, written);
    written += encoded.length;
    read += character.length;
  }
  return { read, written };
}

function utf8Of(point: number): readonly number[] {
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), continuation(point)];
  if (point >= 0xd800 && point <= 0xdfff) return REPLACEMENT;
  if (point < 0x10000) return [0xe0 | (point >> 12), continuation(point >> 6), continuation(point)];
  return [0xf0 | (point >> 18), continuation(point >> 12), continuation(point >> 6), continuation(point)];
}

function continuation(bits: number): number {
  return 0x80 | (bits & 0x3f);
}

const REPLACEMENT = [0xef, 0xbf, 0xbd];
