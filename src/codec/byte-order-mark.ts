/** A text of a msgpack value that begins with a byte order mark which a decoder would drop. */
export interface BomText {
  /** Where its head is. */
  readonly head: number;
  /** Where its first byte is. */
  readonly from: number;
  /** Bytes. */
  readonly size: number;
}

// @msgpack/msgpack hands texts of more than 200 bytes to a TextDecoder, which takes a mark at their start for a signature
// and drops it: one, and no more.
const HANDED_ON_ABOVE = 200;
const MARK = [0xef, 0xbb, 0xbf] as const;
const STR_32 = 0xdb;
const STR_32_HEAD_BYTES = 5;
const MOST_ADDED = STR_32_HEAD_BYTES + MARK.length;

/** Whether the decoder would drop the start of the text of `size` bytes that begins at `from`. */
export function startsWithBom(bytes: Uint8Array, from: number, size: number): boolean {
  return size > HANDED_ON_ABOVE && MARK.every((byte, index) => bytes[from + index] === byte);
}

/** A copy of a msgpack value in which these texts, in their order, have their mark twice, so that decoding leaves it once. */
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
