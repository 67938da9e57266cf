// A WebSocket frame (RFC 6455 §5.2). The first byte: whether it is the last of its message, three bits of extensions, and what it is.
export const FINAL = 0x80;
export const TEXT = 1;
export const BINARY = 2;
export const PING = 9;
export const PONG = 10;

// The second byte: whether it is masked, and its length or where that stands.
export const MASKED = 0x80;
export const ONE_BYTE_LENGTH = 125;
export const IN_TWO_BYTES = 126;
export const IN_EIGHT_BYTES = 127;

export const KEY_BYTES = 4;
export const MAX_HEADER_BYTES = 2 + 8 + KEY_BYTES;

/** Masks the bytes in `view` from `from` up to `to`, or unmasks them, which is the same (RFC 6455 §5.3). */
export function mask(view: DataView, from: number, to: number, key: number): void {
  let at = from;
  for (const last = to - KEY_BYTES; at <= last; at += KEY_BYTES) view.setInt32(at, view.getInt32(at) ^ key);
  for (let shift = 24; at < to; at++, shift -= 8) view.setUint8(at, view.getUint8(at) ^ (key >> shift));
}
