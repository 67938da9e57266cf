import type { Message } from './codec.js';
import { violation } from './violation.js';

/** How many ASCII slices are joined to a group. V8 copies young text at each collection, while the socket waits, but none above 128 KiB. */
const GROUP = 16;

/**
 * The slices of one encoded payload. ASCII slices are joined in groups of {@link GROUP}. All pieces are joined once, at the end:
 * appending each slice would copy all that is held each time.
 */
export class Fragments {
  /** Slices, and groups of slices. */
  #pieces: Message[] = [];
  #count = 0;
  #byteLength = 0;
  /** How many ASCII slices at the end are in no group. */
  #loose = 0;

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  clear(): void {
    this.#pieces = [];
    this.#count = this.#byteLength = this.#loose = 0;
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
    // The limits count one byte for each character of an ASCII slice. In one text with others, it could take two.
    this.#loose = isText && bytes === piece.length ? this.#loose + 1 : 0;
    if (this.#loose === GROUP) this.#group();
  }

  /** Returns the whole payload and drops the slices. */
  join(): Message {
    const pieces = this.#pieces;
    const isText = typeof pieces[0] === 'string';
    const whole = isText ? (pieces as string[]).join('') : joinBytes(pieces as ArrayBuffer[], this.#byteLength);
    this.clear();
    return whole;
  }

  #group(): void {
    const group = this.#pieces.splice(-GROUP) as string[];
    this.#pieces.push(group.join(''));
    this.#loose = 0;
  }
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
