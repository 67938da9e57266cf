import type { Codec, Message } from './codec.js';
import { ABSENT, frameName } from './frame.js';
import type { Frame } from './frame.js';
import { encodedLength } from './length.js';
import type { DecodeLimits } from './limits.js';
import { violation } from './violation.js';

/**
 * The receiving side of fragmentation, one per stream: collects the slices of one encoded payload and decodes them
 * together. Idle until the first fragment, in progress until the one without `more`.
 *
 * It has no limit of its own: compare {@link byteLength} plus the next fragment with yours before feeding it.
 *
 * @example
 * ```ts
 * const assembler = new Assembler();
 * assembler.feed({ type: 'data', stream: 1, fragment: '{"a"', more: true }, codec);   // ABSENT
 * assembler.byteLength;                                                               // 4
 * assembler.feed({ type: 'data', stream: 1, fragment: ':1}' }, codec);                // { a: 1 }
 * ```
 */
export class Assembler {
  // Of one kind. Kept apart and joined once: appending to what is there would copy it again for every fragment.
  #pieces: Message[] = [];
  #byteLength = 0;

  /** Whether fragments are held: true between the first fragment and the one without `more`. */
  get inProgress(): boolean {
    return this.pieces > 0;
  }

  /** Bytes held, each fragment measured as {@link encodedLength} measures; 0 when idle. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Fragments held; 0 when idle. */
  get pieces(): number {
    return this.#pieces.length;
  }

  /** Drops what is held, as when the stream is reset. */
  reset(): void {
    this.#pieces = [];
    this.#byteLength = 0;
  }

  /**
   * Takes one fragment in; gives {@link ABSENT} while more are expected and the decoded payload on the last one.
   *
   * @param codec decodes the payload; used on the last fragment only
   * @param textBytes bytes of a fragment that is text, where they have been measured; a browser takes some 50 µs for that
   * @param limits what `codec.decodePayload` is told
   * @throws ProtocolError when the frame carries no fragment (what is held stays), or when text and bytes are mixed, and
   *   whatever `codec.decodePayload` throws; after these two the assembler is idle
   */
  feed(frame: Frame, codec: Codec, textBytes?: number, limits?: DecodeLimits): unknown {
    const fragment = frame.fragment ?? null;
    if (fragment === null) throw violation(frame.stream, `expected a fragment, got a ${frameName(frame.type)} without one`);
    const isText = typeof fragment === 'string';
    if (this.inProgress && isText !== (typeof this.#pieces[0] === 'string')) {
      this.reset();
      throw violation(frame.stream, `expected fragments of one kind, got ${isText ? 'text after bytes' : 'bytes after text'}`);
    }
    this.#pieces.push(fragment);
    this.#byteLength += isText ? (textBytes ?? encodedLength(fragment)) : fragment.byteLength;
    if (frame.more === true) return ABSENT;
    const whole = joined(this.#pieces, this.#byteLength);
    this.reset();
    return codec.decodePayload(whole, limits);
  }
}

function joined(pieces: readonly Message[], byteLength: number): Message {
  if (typeof pieces[0] === 'string') return (pieces as readonly string[]).join('');
  const whole = new Uint8Array(byteLength);
  let at = 0;
  for (const piece of pieces as readonly ArrayBuffer[]) {
    whole.set(new Uint8Array(piece), at);
    at += piece.byteLength;
  }
  return whole.buffer;
}
