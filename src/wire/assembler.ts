import type { Codec } from './codec.js';
import { Fragments } from './fragments.js';
import { frameName } from './frame-types.js';
import { ABSENT } from './frame.js';
import type { Frame } from './frame.js';
import { encodedLength } from './length.js';
import { violation } from './violation.js';

/**
 * The receiving side of fragmentation, one per stream: collects the slices of one encoded payload and decodes them together. It is idle
 * until the first fragment, and in progress until the fragment without `more`.
 *
 * It has no limit of its own: compare {@link byteLength} plus the next fragment with your limit before you feed it.
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

  /** Keeps Vue from wrapping it in a Proxy: plain objects have another tag. */
  get [Symbol.toStringTag](): string {
    return 'Assembler';
  }

  /** Whether it holds fragments: `true` between the first fragment and the fragment without `more`. */
  get inProgress(): boolean {
    return this.#fragments.count > 0;
  }

  /** The bytes held; 0 when idle. Each fragment is measured as {@link encodedLength} measures. */
  get byteLength(): number {
    return this.#fragments.byteLength;
  }

  /** Drops the held fragments, as when the stream is reset. */
  reset(): void {
    this.#fragments.clear();
  }

  /**
   * Takes one fragment. Returns {@link ABSENT} while more fragments are expected, and the decoded payload on the last fragment.
   *
   * @param codec decodes the payload; used on the last fragment only
   * @throws ProtocolError when the frame carries no fragment (the held fragments stay), or when text and bytes are mixed. Also throws
   *   whatever `codec.decodePayload` throws. After these last two errors the assembler is idle.
   */
  feed(frame: Frame, codec: Codec): unknown {
    const fragment = frame.fragment ?? null;
    if (fragment === null) throw violation(frame.stream, `expected a fragment, got a ${frameName(frame.type)} without one`);
    this.#fragments.add(frame.stream, fragment, encodedLength(fragment));
    return frame.more === true ? ABSENT : codec.decodePayload(this.#fragments.join());
  }
}
