/** A text inside a msgpack value that begins with a byte order mark which a decoder would drop. */
export interface BomText {
  /** The position of its head. */
  readonly head: number;
  /** The position of its first byte. */
  readonly from: number;
  /** Its length in bytes. */
  readonly size: number;
}

// @msgpack/msgpack passes texts of more than 200 bytes to a TextDecoder. The TextDecoder takes one mark at the start of a text for a
//   signature and drops it.
const HANDED_ON_ABOVE = 200;
const MARK = [0xef, 0xbb, 0xbf] as const;
const STR_32 = 0xdb;
const STR_32_HEAD_BYTES = 5;
const MOST_ADDED = STR_32_HEAD_BYTES + MARK.length;

/** Whether the decoder would drop the start of the text of `size` bytes that begins at `from`. */
export function startsWithBom(bytes: Uint8Array, from: number, size: number): boolean {
  return size > HANDED_ON_ABOVE && MARK.every((byte, index) => bytes[from + index] === byte);
}

/** Copies a msgpack value and doubles the mark of each text, so that decoding keeps one. `texts` are in the order of their positions. */
export function withDoubledBoms(bytes: Uint8Array, texts: readonly BomText[]): Uint8Array {
  const copy = new Uint8Array(bytes.length + texts.length * MOST_ADDED);
  const view = new DataView(copy.buffer);
  let read = 0;
  let written = 0;
  for (const { head, from, size } of texts) {
    copy.set(bytes.subarray(read, head), written);
    written += head - read;
    view.setUint8(written, STR_32);
    view.setUint32(written + 1, size + MARK.length);
    copy.set(MARK, written + STR_32_HEAD_BYTES);
    written += MOST_ADDED;
    read = from;
  }
  copy.set(bytes.subarray(read), written);
  return copy.subarray(0, written + bytes.length - read);
}
