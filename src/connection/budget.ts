import type { Share } from '../session/base/share.js';
import type { AnswerHold } from '../session/receive/answer-hold.js';
import type { ReadBackpressure } from '../session/receive/read-backpressure.js';
import { ResetCode } from '../wire/codes.js';
import { HeldBytes } from '../wire/held-bytes.js';
import type { Limits } from '../wire/limits.js';

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
/** A remote that slows down may send so many times `maxUnreadBytes`: a long line holds that much. */
const PACED_LIMITS = 2;
/** For a remote that slows down, the socket is paused at this part of the limit. A window of bulk fits in between. */
const PACED_PAUSE_SHARE = 7 / 8;
/** For any other remote, so many bytes beyond `pauseBytes` pause the socket. */
const UNPACED_BYTES = 2 * 1024 * 1024;
/** For any other remote, the socket is paused no later than at this part of the limit, because bytes that were read already still come. */
const PAUSE_SHARE = 3 / 4;

/** Counts unread payloads per stream and per connection. Slows the remote when a stream holds too many bytes: its bulk first, then the socket. */
export class ReceiveBudget {
  /** Bytes of unfinished and unread payloads. */
  readonly held: HeldBytes;
  /** Payloads of opens, headers and trailers, which live as long as their streams. Shares the limit with {@link held}. */
  readonly attached: HeldBytes;

  constructor(
    private readonly limits: Limits,
    private readonly reading: ReadBackpressure,
    private readonly hold: AnswerHold,
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
   * Counts a payload of `bytes` encoded bytes and `weight` bytes of memory, with which its stream has `unread` encoded bytes.
   *
   * @returns the excess over a limit, or `null` if the payload was counted
   */
  keep(stream: Keeper, unread: number, bytes: number, weight: number): Excess | null {
    const mostUnread = this.#mostUnread(stream);
    if (unread > mostUnread) {
      const reason = `${unread} unread bytes are over the limit of ${mostUnread} (maxUnreadBytes)`;
      return { code: ResetCode.FLOW_CONTROL, reason };
    }
    if (!this.held.take(weight)) return tooMuch(this.held, weight);
    // A closed stream receives nothing more, so its reader need not slow the remote.
    if (!stream.closed) this.#slow(stream, unread, bytes);
    return null;
  }

  /** Counts `bytes` that live as long as their stream. Returns the excess over the limit, or `null`. */
  attach(bytes: number): Excess | null {
    return this.attached.take(bytes) ? null : tooMuch(this.attached, bytes);
  }

  /** The consumer has read or dropped a payload of `bytes` and `weight`, so its stream has `unread` encoded bytes left. */
  read(stream: Keeper, unread: number, bytes: number, weight: number): void {
    this.held.release(weight);
    if (unread < this.#pauseFrom(stream)) this.reading.caughtUp(stream);
    if (unread < this.limits.pauseBytes) this.hold.caughtUp(stream);
    else this.hold.read(stream, bytes);
  }

  /** A stream leaves, whatever its consumer has not read. */
  unblock(stream: Keeper): void {
    this.reading.caughtUp(stream);
    this.hold.caughtUp(stream);
  }

  /** Slows the remote no longer, however many bytes the streams hold. */
  resume(): void {
    this.hold.resume();
    this.reading.resume();
  }

  /** Never slows the remote again, because the session must see the closing handshake. */
  stop(): void {
    this.hold.stop();
    this.reading.stop();
  }

  /** Unread bytes of a stream that do not reset it. */
  #mostUnread(stream: Keeper): number {
    const { maxUnreadBytes } = this.limits;
    return this.hold.slows(stream) ? PACED_LIMITS * maxUnreadBytes : maxUnreadBytes;
  }

  /** Unread bytes of a stream that pause the socket. */
  #pauseFrom(stream: Keeper): number {
    const { pauseBytes } = this.limits;
    const most = this.#mostUnread(stream);
    const from = this.hold.slows(stream) ? most * PACED_PAUSE_SHARE : Math.min(pauseBytes + UNPACED_BYTES, most * PAUSE_SHARE);
    return Math.max(pauseBytes, from);
  }

  #slow(stream: Keeper, unread: number, bytes: number): void {
    if (this.share?.holdsMuch === true) this.reading.lag(stream);
    if (unread < this.limits.pauseBytes) return;
    this.hold.lag(stream);
    // The next payload may be as large.
    if (unread + bytes >= this.#pauseFrom(stream) && !this.hold.ignores(stream)) this.reading.lag(stream);
  }
}

function tooMuch(held: HeldBytes, bytes: number): Excess {
  return { code: ResetCode.ENHANCE_YOUR_CALM, reason: held.refusal(bytes) };
}
