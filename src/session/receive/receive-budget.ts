import type { Share } from '../base/share.js';
import { HeldBytes } from '../../wire/held-bytes.js';
import type { Limits } from '../../wire/limits.js';
import { ResetCode } from '../../wire/reset-code.js';
import type { ReadBackpressure } from './read-backpressure.js';

/** Why a stream may not keep a payload: how it is reset. */
export interface Excess {
  readonly code: ResetCode;
  readonly reason: string;
}

/** What is asked of a stream that keeps payloads. */
export interface Keeper {
  readonly closed: boolean;
}

/** Unread payloads leave this part of the limit to new streams. */
const ATTACHED_SHARE = 1 / 16;

/** Received payloads that wait to be read: counted per stream and per connection, and held back by not reading the socket. */
export class ReceiveBudget {
  /** Payloads that are unfinished or unread. */
  readonly held: HeldBytes;
  /** What came with opens, and headers and trailers, which live as long as their streams. Shares the limit with {@link held}. */
  readonly attached: HeldBytes;

  constructor(
    private readonly limits: Limits,
    private readonly reading: ReadBackpressure,
    private readonly share: Share | null = null,
  ) {
    this.held = new HeldBytes(limits, null, 0, share);
    this.attached = new HeldBytes(limits, this.held, ATTACHED_SHARE, share);
  }

  /**
   * Counts a payload that brings its stream to `unread` encoded bytes and takes `weight` bytes of memory.
   *
   * @returns what is over a limit, or `null` when it is counted
   */
  keep(stream: Keeper, unread: number, weight: number): Excess | null {
    const { maxUnreadBytes, pauseBytes } = this.limits;
    if (unread > maxUnreadBytes) {
      const reason = `${unread} unread bytes are over the limit of ${maxUnreadBytes} (maxUnreadBytes)`;
      return { code: ResetCode.FLOW_CONTROL, reason };
    }
    if (!this.held.take(weight)) return tooMuch(this.held, weight);
    // Nothing more comes on a closed stream, so its reader holds nobody up.
    if ((unread >= pauseBytes || this.share?.holdsMuch === true) && !stream.closed) this.reading.block(stream);
    return null;
  }

  /** Counts `bytes` that came with a stream and live as long as it does; gives what is over the limit, or `null`. */
  attach(bytes: number): Excess | null {
    return this.attached.take(bytes) ? null : tooMuch(this.attached, bytes);
  }

  /** What was attached to a stream goes with it. */
  releaseAttached(bytes: number): void {
    this.attached.release(bytes);
  }

  /** A payload of `weight` was read or dropped, which leaves `unread` encoded bytes of its stream. */
  read(stream: Keeper, unread: number, weight: number): void {
    this.held.release(weight);
    if (unread < this.limits.pauseBytes) this.reading.unblock(stream);
  }
}

function tooMuch(held: HeldBytes, bytes: number): Excess {
  return { code: ResetCode.ENHANCE_YOUR_CALM, reason: held.refusal(bytes) };
}
