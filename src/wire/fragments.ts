import type { Message } from './codec.js';
import { violation } from './violation.js';

/** V8 does not move text of more than 128 KiB. It copies shorter young text at each collection, while the socket waits. */
const GROUP_BYTES = 1024 * 1024;

/**
 * The slices of one encoded payload. ASCII slices are joined in groups of {@link GROUP_BYTES}. All pieces are joined once, at the end:
 * appending each slice would copy all that is held each time.
 */
export class Fragments {
  /** Slices, and groups of slices. */
  #pieces: Message[] = [];
  #count = 0;
  #byteLength = 0;
  /** How many slices at the end are in no group. */
  #looseCount = 0;
  #looseBytes = 0;

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  clear(): void {
    this.#pieces = [];
    this.#count = this.#byteLength = this.#looseCount = this.#looseBytes = 0;
  }

  /**
   * @param bytes the length of `piece` as `encodedLength` measures it
   * @throws ProtocolError when text and bytes are mixed; then all held slices are dropped
   */
  add(stream: number | null | undefined, piece: Message, bytes: number): void {
    const isText = typeof piece === 'string';
    if (this.count > 0 && isText !== (typeof this.#pieces[0] === 'string')) {
      this.clear();
      throw violation(stream, `expected fragments of one kind, got ${isText ? 'text after bytes' : 'bytes after text'}`);
    }
    this.#pieces.push(piece);
    this.#count++;
    this.#byteLength += bytes;
    if (isText) this.#group(piece, bytes);
  }

  /** Returns the whole payload and drops the slices. */
  join(): Message {
    const whole = joined(this.#pieces, this.#byteLength);
    this.clear();
    return whole;
  }

  /** Joins the last slices once they are enough for a group. */
  #group(piece: string, bytes: number): void {
    // The limits count one byte for each character of an ASCII slice. In one text with others, it could take two.
    const isAscii = bytes === piece.length;
    this.#looseCount = isAscii ? this.#looseCount + 1 : 0;
    this.#looseBytes = isAscii ? this.#looseBytes + bytes : 0;
    if (this.#looseBytes < GROUP_BYTES) return;
    this.#pieces.push(joined(this.#pieces.splice(-this.#looseCount), this.#looseBytes));
    this.#looseCount = this.#looseBytes = 0;
  }
}

function joined(pieces: readonly Message[], byteLength: number): Message {
  return typeof pieces[0] === 'string' ? (pieces as readonly string[]).join('') : joinBytes(pieces as readonly ArrayBuffer[], byteLength);
}

/** Returns one buffer with all pieces. */
export function joinBytes(pieces: readonly ArrayBuffer[], byteLength: number): ArrayBuffer {
  const whole = new Uint8Array(byteLength);
  let at = 0;
  for (const piece of pieces) {
    whole.set(new Uint8Array(piece), at);
    at += piece.byteLength;
  }
  return whole.buffer;
}
