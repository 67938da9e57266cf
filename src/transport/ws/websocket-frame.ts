// The first byte of a WebSocket frame (RFC 6455 §5.2): the bit of a message's last frame, three bits of extensions, and the opcode.
export const FINAL = 0x80;
export const TEXT = 1;
export const BINARY = 2;
export const PING = 9;
export const PONG = 10;

// The second byte: the mask bit, and the length or the size of the length field.
export const MASKED = 0x80;
export const ONE_BYTE_LENGTH = 125;
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;

const KEY_BYTES = 4;
export const MAX_HEADER_BYTES = 2 + 8 + KEY_BYTES;

/** The first two bytes of a header, and the size of its frame in bytes. */
export interface Header {
  readonly first: number;
  readonly second: number;
  readonly frameSize: number;
}

/** A view of the same bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The header at `at`, which must have arrived completely. */
export function headerAt(view: DataView, at: number): Header {
  return { first: view.getUint8(at), second: view.getUint8(at + 1), frameSize: headerSize(view, at) + contentSize(view, at) };
}

/** Bytes of the header at `at`. At least 2, which is also the result if the second byte is missing. */
export function headerSize(view: DataView, at: number): number {
  const second = at + 1 < view.byteLength ? view.getUint8(at + 1) : 0;
  const length = second & ~MASKED;
  const size = length === IN_TWO_BYTES ? 2 + 2 : length === IN_EIGHT_BYTES ? 2 + 8 : 2;
  return (second & MASKED) === 0 ? size : size + KEY_BYTES;
}

/** Bytes of the content after the header at `at`, which must have arrived completely. */
export function contentSize(view: DataView, at: number): number {
  const length = view.getUint8(at + 1) & ~MASKED;
  if (length === IN_TWO_BYTES) return view.getUint16(at + 2);
  return length === IN_EIGHT_BYTES ? Number(view.getBigUint64(at + 2)) : length;
}

/** Bytes of the header for a content of `size` bytes. */
export function headerSizeFor(size: number, masked: boolean): number {
  const unmasked = size <= ONE_BYTE_LENGTH ? 2 : size < 2 ** 16 ? 2 + 2 : 2 + 8;
  return masked ? unmasked + KEY_BYTES : unmasked;
}

/** Writes a header at `at`, without the masking key. Returns the offset of its content. */
export function putHeader(view: DataView, at: number, kind: number, size: number, masked: boolean): number {
  const maskBit = masked ? MASKED : 0;
  view.setUint8(at, FINAL | kind);
  if (size <= ONE_BYTE_LENGTH) view.setUint8(at + 1, maskBit | size);
  else if (size < 2 ** 16) {
    view.setUint8(at + 1, maskBit | IN_TWO_BYTES);
    view.setUint16(at + 2, size);
  } else {
    view.setUint8(at + 1, maskBit | IN_EIGHT_BYTES);
    view.setBigUint64(at + 2, BigInt(size));
  }
  return at + headerSizeFor(size, masked);
}

/** Returns the header of an unmasked text of less than 2^16 bytes, a character for each byte. */
export function textHeader(size: number): string {
  return size <= ONE_BYTE_LENGTH
    ? String.fromCharCode(FINAL | TEXT, size)
    : String.fromCharCode(FINAL | TEXT, IN_TWO_BYTES, size >> 8, size & 0xff);
}

/** Masks the content in `view` from `from` up to `to`, and writes the key before it. */
export function maskWith(key: number, view: DataView, from: number, to: number): void {
  view.setInt32(from - KEY_BYTES, key);
  mask(view, from, to, key);
}

/** Unmasks content with the key before it. A second call masks the content again. */
export function flipMask(view: DataView, from: number, to: number): void {
  mask(view, from, to, view.getInt32(from - KEY_BYTES));
}

/** Masks or unmasks bytes, which is the same operation (RFC 6455 §5.3). */
function mask(view: DataView, from: number, to: number, key: number): void {
  let at = from;
  for (const last = to - KEY_BYTES; at <= last; at += KEY_BYTES) view.setInt32(at, view.getInt32(at) ^ key);
  for (let shift = 24; at < to; at++, shift -= 8) view.setUint8(at, view.getUint8(at) ^ (key >> shift));
}
