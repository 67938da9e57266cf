import type { Codec } from './codec.js';
import { Fragments } from './fragments.js';
import { frameName } from './frame-types.js';
import { ABSENT } from './frame.js';
import type { Frame } from './frame.js';
import { encodedLength } from './length.js';
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
  readonly #fragments = new Fragments();

  /** Keeps Vue from wrapping it in a Proxy: its tag is not that of a plain object. */
  get [Symbol.toStringTag](): string {
    return 'Assembler';
  }

  /** Whether fragments are held: true between the first fragment and the one without `more`. */
  get inProgress(): boolean {
    return this.#fragments.count > 0;
  }

  /** Bytes held, each fragment measured as {@link encodedLength} measures; 0 when idle. */
  get byteLength(): number {
    return this.#fragments.byteLength;
  }

  /** Drops what is held, as when the stream is reset. */
  reset(): void {
    this.#fragments.clear();
  }

  /**
   * Takes one fragment in; returns {@link ABSENT} while more are expected and the decoded payload on the last one.
   *
   * @param codec decodes the payload; used on the last fragment only
   * @throws ProtocolError when the frame carries no fragment (what is held stays), or when text and bytes are mixed, and
   *   whatever `codec.decodePayload` throws; after these two the assembler is idle
   */
  feed(frame: Frame, codec: Codec): unknown {
    const fragment = frame.fragment ?? null;
    if (fragment === null) throw violation(frame.stream, `expected a fragment, got a ${frameName(frame.type)} without one`);
    this.#fragments.add(frame.stream, fragment, encodedLength(fragment));
    return frame.more === true ? ABSENT : codec.decodePayload(this.#fragments.join());
  }
}
