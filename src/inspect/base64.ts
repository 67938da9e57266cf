/** Bytes of one call of `String.fromCharCode`, which has a limit of arguments. */
const PIECE_BYTES = 8_192;

/** Returns bytes as base64. It needs no `Buffer`, which browsers lack. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let begin = 0; begin < bytes.length; begin += PIECE_BYTES)
    text += String.fromCharCode(...bytes.subarray(begin, begin + PIECE_BYTES));
  return btoa(text);
}

/** Returns the bytes of a text in base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
