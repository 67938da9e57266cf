import type { Share } from '../base/share.js';
import { HeldBytes } from '../../wire/held-bytes.js';
import type { Limits } from '../../wire/limits.js';
import { ResetCode } from '../../wire/reset-code.js';
import type { ReadBackpressure } from './read-backpressure.js';

/** The reset of a stream that may not keep a payload. */
export interface Excess {
  readonly code: ResetCode;
  readonly reason: string;
}

/** A stream that keeps payloads, as the budget sees it. */
export interface Keeper {
  readonly closed: boolean;
}

/** Unread payloads leave this part of the limit to attached bytes, which every new stream needs. */
const ATTACHED_SHARE = 1 / 16;

/** Counts unread payloads per stream and per connection. Pauses reading of the socket when a stream holds too many bytes. */
export class ReceiveBudget {
  /** Bytes of unfinished and unread payloads. */
  readonly held: HeldBytes;
  /** Payloads of opens, headers and trailers, which live as long as their streams. Shares the limit with {@link held}. */
  readonly attached: HeldBytes;

  constructor(
    private readonly limits: Limits,
    private readonly reading: ReadBackpressure,
    private readonly share: Share | null = null,
  ) {
    this.held = new HeldBytes(limits, null, 0, share);
    this.attached = new HeldBytes(limits, this.held, ATTACHED_SHARE, share);
  }

  /** Bytes of both. */
  get used(): number {
    return this.held.used + this.attached.used;
  }

  /**
   * Counts a payload of `weight` bytes of memory, with which its stream has `unread` encoded bytes.
   *
   * @returns the excess over a limit, or `null` if the payload was counted
   */
  keep(stream: Keeper, unread: number, weight: number): Excess | null {
    const { maxUnreadBytes, pauseBytes } = this.limits;
    if (unread > maxUnreadBytes) {
      const reason = `${unread} unread bytes are over the limit of ${maxUnreadBytes} (maxUnreadBytes)`;
      return { code: ResetCode.FLOW_CONTROL, reason };
    }
    if (!this.held.take(weight)) return tooMuch(this.held, weight);
    // A closed stream receives nothing more, so its reader need not pause the socket.
    if ((unread >= pauseBytes || this.share?.holdsMuch === true) && !stream.closed) this.reading.block(stream);
    return null;
  }

  /** Counts `bytes` that live as long as their stream. Returns the excess over the limit, or `null`. */
  attach(bytes: number): Excess | null {
    return this.attached.take(bytes) ? null : tooMuch(this.attached, bytes);
  }

  /** Releases the attached bytes of a stream that ends. */
  releaseAttached(bytes: number): void {
    this.attached.release(bytes);
  }

  /** The consumer has read or dropped a payload of `weight`, so its stream has `unread` encoded bytes left. */
  read(stream: Keeper, unread: number, weight: number): void {
    this.held.release(weight);
    if (unread < this.limits.pauseBytes) this.reading.unblock(stream);
  }
}

function tooMuch(held: HeldBytes, bytes: number): Excess {
  return { code: ResetCode.ENHANCE_YOUR_CALM, reason: held.refusal(bytes) };
}
