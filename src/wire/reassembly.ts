import { LazyMap } from '../util/collections.js';
import type { Codec, Message } from './codec.js';
import { ResetCode } from './codes.js';
import { isError } from './cross-realm.js';
import { ConnectionFault, StreamFault } from './fault.js';
import { Fragments } from './fragments.js';
import { typeName } from './frame-types.js';
import { ABSENT } from './frame.js';
import type { CompleteFrame } from './frame.js';
import { HeldBytes, chargeOf, weightOfPiece } from './held-bytes.js';
import { encodedLength } from './length.js';
import type { Limits } from './limits.js';

interface Unfinished extends Pick<CompleteFrame, 'type' | 'headers'> {
  readonly headerBytes: number;
  readonly fragments: Fragments;
  charged: number;
  /** The time of its last fragment. */
  fragmentAt: number;
}

/** Reads the time in ms at which a fragment comes. */
interface FragmentClock {
  now(): number;
}

const NO_CLOCK: FragmentClock = { now: () => 0 };

/**
 * Reassembles the fragments of one connection, for each stream that is in the middle of a payload. It refuses a payload before it keeps
 * the fragment that would exceed a limit.
 *
 * @example
 * ```ts
 * const reassembly = new Reassembly(new JsonCodec(), DEFAULT_LIMITS);
 * of({ type: 'data', stream: 1, fragment: '"he', more: true }).pipe(assemble(new JsonCodec(), {}, reassembly)).subscribe();
 * reassembly.unfinished;   // [1]
 * reassembly.release(1);
 * reassembly.unfinished;   // []
 * ```
 */
export class Reassembly {
  readonly #partials = new LazyMap<number, Unfinished>();
  #emptyFragments = 0;
  #assembledBytes = 0;

  constructor(
    private readonly codec: Codec,
    private readonly limits: Limits,
    private readonly held: HeldBytes = new HeldBytes(limits),
    private readonly clock: FragmentClock = NO_CLOCK,
  ) {}

  /** Keeps Vue from wrapping it in a Proxy: plain objects have another tag. */
  get [Symbol.toStringTag](): string {
    return 'Reassembly';
  }

  /** Encoded bytes of the payload that was reassembled last, and of its headers; 0 after a whole frame. */
  get assembledBytes(): number {
    return this.#assembledBytes;
  }

  /** Ids of the streams that are in the middle of a payload. */
  get unfinished(): readonly number[] {
    return [...this.#partials.keys()];
  }

  /** @internal The time of the last fragment of the payload that has waited longest; `Infinity` when every payload is whole. */
  get oldestFragmentAt(): number {
    let oldest = Infinity;
    for (const { fragmentAt } of this.#partials.values()) oldest = Math.min(oldest, fragmentAt);
    return oldest;
  }

  /** @internal Ids of the streams whose last fragment came at `time` or before. */
  unfinishedSince(time: number): readonly number[] {
    return [...this.#partials].filter(([, { fragmentAt }]) => fragmentAt <= time).map(([id]) => id);
  }

  /**
   * Takes one frame.
   *
   * @returns the frame itself when it is whole, and the reassembled frame on its last fragment. Returns `null` while more fragments are
   *   expected. Returns the fault of the stream if there is one.
   * @throws ConnectionFault when the connection sends more empty fragments than the limit allows
   */
  accept(frame: CompleteFrame): CompleteFrame | StreamFault | null {
    const { stream, fragment } = frame;
    this.#assembledBytes = 0;
    if (stream === null || (fragment === null && !frame.more && this.#partials.size === 0)) return frame;
    const violation = this.#violation(frame, this.#partials.get(stream));
    if (violation !== null) return this.#refuse(frame, stream, ResetCode.PROTOCOL_ERROR, violation);
    if (frame.type === 'reset' && (fragment === null || this.#partials.get(stream)?.type !== 'reset')) this.release(stream);
    return fragment === null ? frame : this.#append(frame, stream, fragment);
  }

  /** Drops the fragments of a stream and releases their bytes. */
  release(stream: number): void {
    const partial = this.#partials.get(stream);
    if (partial === undefined) return;
    this.#partials.delete(stream);
    partial.fragments.clear();
    this.held.release(partial.charged);
  }

  #violation(frame: CompleteFrame, partial: Unfinished | undefined): string | null {
    if (frame.fragment === null) {
      if (frame.more) return `expected a fragment beside 'more', got ${frame.payload === ABSENT ? 'none' : 'a payload'}`;
      if (partial === undefined || frame.type === 'reset') return null;
      return `expected the next fragment of the ${typeName(partial.type)}, got a ${typeName(frame.type)} without one`;
    }
    if (frame.more && (frame.end || frame.trailers !== null)) return `expected 'end' and 'trailers' on the last fragment only`;
    if (partial === undefined || frame.type === 'reset' || partial.type === frame.type) return null;
    return `expected the next fragment of the ${typeName(partial.type)}, got one of a ${typeName(frame.type)}`;
  }

  #append(frame: CompleteFrame, stream: number, fragment: Message): CompleteFrame | StreamFault | null {
    const known = this.#partials.get(stream);
    const fragments = known?.fragments ?? new Fragments();
    const bytes = encodedLength(fragment);
    if (bytes === 0 && frame.more && ++this.#emptyFragments > this.limits.maxEmptyFragments) {
      throw ConnectionFault.tooMuch(`more than ${this.limits.maxEmptyFragments} empty fragments (maxEmptyFragments)`);
    }
    const size = fragments.byteLength + bytes;
    if (size > this.limits.maxPayloadBytes) {
      return this.#refuse(
        frame,
        stream,
        ResetCode.PAYLOAD_TOO_LARGE,
        `payload of at least ${size} bytes is over the limit of ${this.limits.maxPayloadBytes} (maxPayloadBytes)`,
      );
    }
    if (fragments.count >= this.limits.maxFragments) {
      return this.#refuse(
        frame,
        stream,
        ResetCode.PROTOCOL_ERROR,
        `payload of more than ${this.limits.maxFragments} fragments (maxFragments)`,
      );
    }
    const headerBytes = known?.headerBytes ?? this.#headerBytes(frame);
    if (headerBytes === null) return this.#refuse(frame, stream, ResetCode.PROTOCOL_ERROR, 'headers that cannot be measured');
    const weight = weightOfPiece(fragment, bytes);
    const charge = chargeOf(known === undefined ? weight + headerBytes : weight);
    if (!this.held.take(charge)) {
      return this.#refuse(frame, stream, ResetCode.ENHANCE_YOUR_CALM, this.held.refusal(charge));
    }
    // Only the type and the headers of the first frame are kept, so only these are charged.
    const partial = known ?? { type: frame.type, headers: frame.headers, headerBytes, fragments, charged: 0, fragmentAt: 0 };
    partial.charged += charge;
    partial.fragmentAt = this.clock.now();
    this.#partials.set(stream, partial);
    return this.#keep(frame, stream, partial, fragment, bytes);
  }

  /**
   * Returns the charge of a first fragment besides its payload; `null` if the codec cannot write the headers that it read, such as 1e400.
   */
  #headerBytes({ type, headers }: CompleteFrame): number | null {
    if (headers === null) return 0;
    try {
      return encodedLength(this.codec.encode({ type, headers }));
    } catch {
      return null;
    }
  }

  #keep(
    frame: CompleteFrame,
    stream: number,
    { headers, headerBytes, fragments }: Unfinished,
    fragment: Message,
    bytes: number,
  ): CompleteFrame | StreamFault | null {
    try {
      fragments.add(stream, fragment, bytes);
      if (frame.more) return null;
      const assembledBytes = fragments.byteLength + headerBytes;
      const payload = this.codec.decodePayload(fragments.join(), this.limits);
      this.#assembledBytes = assembledBytes;
      this.release(stream);
      return { ...frame, payload, fragment: null, headers };
    } catch (error) {
      const reason = isError(error) ? error.message : 'fragments do not reassemble';
      return this.#refuse({ ...frame, headers }, stream, ResetCode.PROTOCOL_ERROR, reason);
    }
  }

  /** Drops the payload. A reset still ends its stream, and is not answered. */
  #refuse(frame: CompleteFrame, stream: number, code: ResetCode, reason: string): CompleteFrame | StreamFault {
    this.release(stream);
    if (frame.type === 'reset') return { ...frame, payload: ABSENT, fragment: null, more: false };
    return new StreamFault(stream, code, reason);
  }
}
