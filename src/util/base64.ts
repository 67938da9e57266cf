/** Bytes of one call of `String.fromCharCode`, which has a limit of arguments. */
const PIECE_BYTES = 8_192;

/** The part of Node's `Buffer` that is ten times as fast as `btoa` and `atob`. Browsers have none. */
export interface NodeBuffer {
  from(bytes: ArrayBufferLike, begin: number, length: number): { toString(encoding: 'base64'): string };
  from(text: string, encoding: 'base64'): Uint8Array;
}

const { Buffer: ofPlatform = null } = globalThis as { readonly Buffer?: NodeBuffer };

/** Returns bytes as base64, with padding. */
export function toBase64(bytes: Uint8Array, buffer: NodeBuffer | null = ofPlatform): string {
  if (buffer !== null) return buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  let text = '';
  for (let begin = 0; begin < bytes.length; begin += PIECE_BYTES)
    text += String.fromCharCode.apply(null, bytes.subarray(begin, begin + PIECE_BYTES) as unknown as number[]);
  return btoa(text);
}

/** Returns the bytes of a text in base64, with memory of their own. The text has to be valid. */
export function fromBase64(text: string, buffer: NodeBuffer | null = ofPlatform): Uint8Array<ArrayBuffer> {
  // Node cuts small buffers out of a pool.
  if (buffer !== null) return new Uint8Array(buffer.from(text, 'base64'));
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
