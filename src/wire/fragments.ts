import type { Message } from './codec.js';
import { violation } from './violation.js';

/** The slices of one encoded payload. They are joined once, at the end: appending each slice would copy all that is held each time. */
export class Fragments {
  #pieces: Message[] = [];
  #byteLength = 0;

  get count(): number {
    return this.#pieces.length;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  clear(): void {
    this.#pieces = [];
    this.#byteLength = 0;
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
    this.#byteLength += bytes;
  }

  /** Returns the whole payload and drops the slices. */
  join(): Message {
    const whole = joined(this.#pieces, this.#byteLength);
    this.clear();
    return whole;
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
