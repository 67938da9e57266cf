// A WebSocket frame (RFC 6455 §5.2). The first byte: whether it is the last of its message, three bits of extensions, and what it is.
export const FINAL = 0x80;
export const TEXT = 1;
export const BINARY = 2;
export const PING = 9;
export const PONG = 10;

// The second byte: whether it is masked, and its length or where that stands.
export const MASKED = 0x80;
export const ONE_BYTE_LENGTH = 125;
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;

const KEY_BYTES = 4;
export const MAX_HEADER_BYTES = 2 + 8 + KEY_BYTES;

/** A header's first two bytes, and how many its frame has. */
export interface Header {
  readonly first: number;
  readonly second: number;
  readonly frameSize: number;
}

/** The header at `at`, which is all there. */
export function headerAt(view: DataView, at: number): Header {
  return { first: view.getUint8(at), second: view.getUint8(at + 1), frameSize: headerSize(view, at) + contentSize(view, at) };
}

/** Bytes of the header at `at`, as far as they can be told: the second byte tells. */
export function headerSize(view: DataView, at: number): number {
  const second = at + 1 < view.byteLength ? view.getUint8(at + 1) : 0;
  const length = second & ~MASKED;
  const size = length === IN_TWO_BYTES ? 2 + 2 : length === IN_EIGHT_BYTES ? 2 + 8 : 2;
  return (second & MASKED) === 0 ? size : size + KEY_BYTES;
}

/** Bytes of the content after the header at `at`, which is all there. */
export function contentSize(view: DataView, at: number): number {
  const length = view.getUint8(at + 1) & ~MASKED;
  if (length === IN_TWO_BYTES) return view.getUint16(at + 2);
  return length === IN_EIGHT_BYTES ? Number(view.getBigUint64(at + 2)) : length;
}

/** Bytes of the header of a frame whose content has so many. */
export function headerSizeFor(size: number, masked: boolean): number {
  const unmasked = size <= ONE_BYTE_LENGTH ? 2 : size < 2 ** 16 ? 2 + 2 : 2 + 8;
  return masked ? unmasked + KEY_BYTES : unmasked;
}

/** Puts a header at `at`, without the key of a mask; gives where its content begins. */
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

/** Masks the content in `view` from `from` up to `to` with a key, which is put before it. */
export function maskWith(key: number, view: DataView, from: number, to: number): void {
  view.setInt32(from - KEY_BYTES, key);
  mask(view, from, to, key);
}

/** Unmasks that content: masks it with the key before it, and so does it again. */
export function flipMask(view: DataView, from: number, to: number): void {
  mask(view, from, to, view.getInt32(from - KEY_BYTES));
}

/** Masks bytes, or unmasks them, which is the same (RFC 6455 §5.3). */
function mask(view: DataView, from: number, to: number, key: number): void {
  let at = from;
  for (const last = to - KEY_BYTES; at <= last; at += KEY_BYTES) view.setInt32(at, view.getInt32(at) ^ key);
  for (let shift = 24; at < to; at++, shift -= 8) view.setUint8(at, view.getUint8(at) ^ (key >> shift));
}
