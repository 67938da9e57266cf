import { isError } from '../util/check.js';
import { LazyMap } from '../util/collections.js';
import type { Codec, Message, PackedPayload } from './codec.js';
import { ResetCode } from './codes.js';
import { ConnectionFault, StreamFault, violation } from './errors.js';
import { ABSENT, frameName, typeName } from './frame.js';
import type { CompleteFrame, Frame } from './frame.js';
import { encodedLength } from './length.js';
import type { Limits } from './limits.js';

/** How many ASCII slices are joined to a group. V8 copies young text at each collection, while the socket waits, but none above 128 KiB. */
const GROUP = 16;

/**
 * The slices of one encoded payload. ASCII slices are joined in groups of {@link GROUP}. All pieces are joined once, at the end:
 * appending each slice would copy all that is held each time.
 */
export class Fragments {
  /** Slices, and groups of slices. */
  #pieces: Message[] = [];
  count = 0;
  byteLength = 0;
  /** How many ASCII slices at the end are in no group. */
  #loose = 0;

  clear(): void {
    this.#pieces = [];
    this.count = this.byteLength = this.#loose = 0;
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
    this.count++;
    this.byteLength += bytes;
    // The limits count one byte for each character of an ASCII slice. In one text with others, it could take two.
    this.#loose = isText && bytes === piece.length ? this.#loose + 1 : 0;
    if (this.#loose === GROUP) this.#group();
  }

  /** Returns the whole payload and drops the slices. */
  join(): Message {
    const pieces = this.#pieces;
    const isText = typeof pieces[0] === 'string';
    const whole = isText ? (pieces as string[]).join('') : joinBytes(pieces as ArrayBuffer[], this.byteLength);
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
export function joinBytes(pieces: readonly (ArrayBuffer | Uint8Array)[], byteLength: number): ArrayBuffer {
  const whole = new Uint8Array(byteLength);
  let at = 0;
  for (const piece of pieces) {
    whole.set(new Uint8Array(piece), at);
    at += piece.byteLength;
  }
  return whole.buffer;
}

/** The least charge of one held piece, in bytes: small pieces cost more memory than their length. */
export const MIN_CHARGE_BYTES = 64;

/** Returns the charge of one held piece. */
export function chargeOf(bytes: number): number {
  return Math.max(MIN_CHARGE_BYTES, bytes);
}

/** Returns the memory of a piece by its encoded bytes. In a text, one character beyond Latin-1 makes every character take two bytes. */
export function weightOfPiece(piece: Message, bytes: number): number {
  return typeof piece === 'string' && bytes > piece.length ? Math.max(bytes, 2 * piece.length) : bytes;
}

/** Returns an upper estimate of a payload's memory, in bytes. `bytes` is its encoded length. */
export function weightOf(codec: Codec, payload: unknown, bytes: number): number {
  // NaN would switch the limit off: what is no number counts as no estimate.
  return Math.max(chargeOf(bytes), Number(codec.weigh?.(payload)) || 0);
}

/** Returns the charge of one waiting frame, by its encoded payload or fragment; `null` is a frame that is only an envelope. */
export function chargeOfPart(encoded: PackedPayload | null): number {
  return encoded === null ? MIN_CHARGE_BYTES : chargeOf(encodedLength(encoded));
}

/** Counts the bytes of several connections together. */
export interface HeldShare {
  /** Counts `bytes` more and returns `true` if they stay within the limit. */
  hold(bytes: number): boolean;
  /** Explains why `bytes` more are too much. */
  holdRefusal(bytes: number): string;
  unhold(bytes: number): void;
}

/** Counts the bytes that one connection holds for its streams, in unfinished and unread payloads. */
export class HeldBytes {
  #used = 0;
  #sharer: HeldBytes | null = null;

  /**
   * @param limits read at each use, because their owner may raise them
   * @param sharer counts against the same limit. The two share it in both directions.
   * @param share the part of the limit that `sharer` cannot use up.
   * @param common also counts the bytes of other connections.
   */
  constructor(
    private readonly limits: Pick<Limits, 'maxHeldBytes'>,
    sharer: HeldBytes | null = null,
    private readonly share = 0,
    private readonly common: HeldShare | null = null,
  ) {
    this.#sharer = sharer;
    if (sharer !== null) sharer.#sharer = this;
  }

  get used(): number {
    return this.#used;
  }

  /** Counts `bytes` more if they stay within the limit, and returns whether they do. */
  take(bytes: number): boolean {
    if (this.#exceeds(bytes) || this.common?.hold(bytes) === false) return false;
    this.#used += bytes;
    return true;
  }

  /** Explains why `bytes` more are too much. */
  refusal(bytes: number): string {
    if (this.common !== null && !this.#exceeds(bytes)) return this.common.holdRefusal(bytes);
    return `${this.#total() + bytes} bytes held by this connection are over the limit of ${this.limits.maxHeldBytes} (maxHeldBytes)`;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.common?.unhold(bytes);
  }

  #exceeds(bytes: number): boolean {
    const { maxHeldBytes } = this.limits;
    return this.#total() + bytes > maxHeldBytes && this.#used + bytes > maxHeldBytes * this.share;
  }

  #total(): number {
    return this.#used + (this.#sharer?.used ?? 0);
  }
}

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
    return [...this.#partials.entries()].filter(([, { fragmentAt }]) => fragmentAt <= time).map(([id]) => id);
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
        `payload of at least ${size} bytes is over the receiver's limit of ${this.limits.maxPayloadBytes} (maxPayloadBytes)`,
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
