// The first byte of a WebSocket frame (RFC 6455 §5.2): the bit of a message's last frame, three bits of extensions, and the opcode.
export const FINAL = 0x80;
/** The first of those three bits: the message is compressed (RFC 7692 §6). */
export const COMPRESSED = 0x40;
export const OPCODE = 0x0f;
export const CONTINUATION = 0;
export const TEXT = 1;
export const BINARY = 2;
export const PING = 9;
export const PONG = 10;

// The second byte: the mask bit, and the length or the size of the length field.
const MASKED = 0x80;
export const ONE_BYTE_LENGTH = 125;
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;

export const KEY_BYTES = 4;
export const MAX_HEADER_BYTES = 2 + 8 + KEY_BYTES;

/** A view of the same bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The header of a frame. Each {@link read} fills it anew. */
export class Header {
  first = 0;
  masked = false;
  /** The length in the second byte, or the code of a longer length field. */
  length = 0;
  /** Offsets of the content, and of the next frame. */
  content = 0;
  end = 0;

  /** Reads the header at `at`. Returns whether it has arrived completely. */
  read(view: DataView, at: number): boolean {
    if (at + 2 > view.byteLength) return false;
    const second = view.getUint8(at + 1);
    const length = second & ~MASKED;
    const lengthBytes = length === IN_TWO_BYTES ? 2 : length === IN_EIGHT_BYTES ? 8 : 0;
    this.first = view.getUint8(at);
    this.masked = (second & MASKED) !== 0;
    this.length = length;
    this.content = at + 2 + lengthBytes + (this.masked ? KEY_BYTES : 0);
    if (this.content > view.byteLength) return false;
    const size = lengthBytes === 0 ? length : lengthBytes === 2 ? view.getUint16(at + 2) : Number(view.getBigUint64(at + 2));
    this.end = this.content + size;
    return true;
  }
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

/** Masks or unmasks content with the key before it, which is the same operation (RFC 6455 §5.3). */
export function flipMask(view: DataView, from: number, to: number): void {
  const key = view.getInt32(from - KEY_BYTES);
  let at = from;
  for (const last = to - KEY_BYTES; at <= last; at += KEY_BYTES) view.setInt32(at, view.getInt32(at) ^ key);
  for (let shift = 24; at < to; at++, shift -= 8) view.setUint8(at, view.getUint8(at) ^ (key >> shift));
}

/** Returns the header of a text of `size` bytes, a character for each byte. The masking key in it is 0. */
export function textHeader(size: number, masked: boolean): string {
  const maskBit = masked ? MASKED : 0;
  const low = size & 0xff;
  const header =
    size <= ONE_BYTE_LENGTH
      ? String.fromCharCode(FINAL | TEXT, maskBit | size)
      : size < 2 ** 16
        ? String.fromCharCode(FINAL | TEXT, maskBit | IN_TWO_BYTES, size >> 8, low)
        : String.fromCharCode(FINAL | TEXT, maskBit | IN_EIGHT_BYTES, 0, 0, 0, 0, size >> 24, (size >> 16) & 0xff, (size >> 8) & 0xff, low);
  return masked ? `${header}\0\0\0\0` : header;
}
