import { encodedLength } from '../wire/length.js';

/** From this length on, in UTF-16 units or bytes, a value has the longest header of all. */
const BULK_LENGTH = 64 * 1024;
/** The largest length that a header can hold, in bytes. */
const MOST_BYTES = 2 ** 32 - 1;
const HEADER_BYTES = 5;
const STR_32 = 0xdb;
const BIN_32 = 0xc6;

/**
 * Encodes a payload that is only one long text, or many bytes, straight into a buffer of its length. `null` for every other value. The
 * general encoder returns the same bytes in twice the time: it counts text unit by unit, grows its buffer, and copies it all at the end.
 *
 * @example
 * ```ts
 * encodeBulk('x'.repeat(70_000));   // ArrayBuffer of 70 005 bytes: db 00 01 11 70, and the text
 * encodeBulk('short');              // null
 * ```
 */
export function encodeBulk(payload: unknown): ArrayBuffer | null {
  if (typeof payload === 'string') return payload.length < BULK_LENGTH ? null : encodedText(payload);
  if (payload instanceof Uint8Array) return isBulk(payload) ? encodedBytes(payload) : null;
  return payload instanceof ArrayBuffer && isBulk(payload) ? encodedBytes(new Uint8Array(payload)) : null;
}

function isBulk({ byteLength }: { readonly byteLength: number }): boolean {
  return byteLength >= BULK_LENGTH && byteLength <= MOST_BYTES;
}

function encodedText(text: string): ArrayBuffer {
  const bytes = withHeader(STR_32, encodedLength(text));
  new TextEncoder().encodeInto(text, bytes.subarray(HEADER_BYTES));
  return bytes.buffer;
}

function encodedBytes(value: Uint8Array): ArrayBuffer {
  const bytes = withHeader(BIN_32, value.byteLength);
  bytes.set(value, HEADER_BYTES);
  return bytes.buffer;
}

function withHeader(type: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES + length);
  bytes[0] = type;
  new DataView(bytes.buffer).setUint32(1, length);
  return bytes;
}
