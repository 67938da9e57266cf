import type { Codec, Message } from './codec.js';
import { encodedLength } from './length.js';
import type { Limits } from './limits.js';

/** The least charge of one held piece, in bytes: small pieces cost more memory than their length. */
export const MIN_CHARGE_BYTES = 64;

/** Returns the charge of one held piece of so many bytes. */
export function chargeOf(bytes: number): number {
  return Math.max(MIN_CHARGE_BYTES, bytes);
}

/** Returns the memory of a piece by its encoded bytes. In a text, one character beyond Latin-1 makes every character take two bytes. */
export function weightOfPiece(piece: Message, bytes: number): number {
  return typeof piece === 'string' && bytes > piece.length ? Math.max(bytes, 2 * piece.length) : bytes;
}

/** Returns an upper estimate of a payload's memory, in bytes. `bytes` is its encoded length. */
export function weightOf(codec: Codec, payload: unknown, bytes: number): number {
  return Math.max(chargeOf(bytes), codec.weigh?.(payload) ?? 0);
}

/** Returns the charge of one waiting frame, by its encoded payload or fragment; `null` is a frame that is only an envelope. */
export function chargeOfPart(encoded: Message | null): number {
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
