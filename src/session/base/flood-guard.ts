import { log } from '../../logger.js';
import { ConnectionFault } from '../../wire/fault.js';
import type { Limits } from '../../wire/limits.js';
import { ResetCode } from '../../wire/codes.js';
import { TokenBucket } from './token-bucket.js';

/** So many received bytes earn the remote one more ping: a fast sender may probe its own bulk. */
export const BYTES_PER_PING = 256 * 1024;

/** Names of the limits that are rates. */
type RateName = 'resets' | 'provokedResets' | 'junk' | 'pings';

/** Counts acts that a remote may do now and then, but not without end. Throws a ConnectionFault for an act over its limit. */
export class FloodGuard {
  /** A bucket that does not exist yet is full. */
  readonly #buckets: Partial<Record<RateName, TokenBucket>> = {};
  #receivedBytes = 0;
  /** Received bytes that have earned their pings. */
  #paidBytes = 0;

  constructor(private readonly limits: Limits) {}

  /** Why this side refuses new streams for now, or `null`. The reason is too many resets of streams whose handler had not settled. */
  get refusal(): string | null {
    return this.#bucket('resets').empty ? this.#tooMuch('resets', 'resets of running handlers') : null;
  }

  /** All bytes received on the connection. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  received(bytes: number): void {
    this.#receivedBytes += bytes;
    if (this.#receivedBytes - this.#paidBytes < BYTES_PER_PING) return;
    const pings = Math.floor((this.#receivedBytes - this.#paidBytes) / BYTES_PER_PING);
    this.#buckets.pings?.earn(pings);
    this.#paidBytes += pings * BYTES_PER_PING;
  }

  countPing(): void {
    this.#spend('pings', 'pings');
  }

  /** The remote has reset a stream whose handler is still at work. */
  countEarlyReset(): void {
    // A remote over this limit commits no fault: `refusal` then refuses its new opens.
    this.#bucket('resets').take();
  }

  /** The remote made this side send a reset. */
  countProvokedReset(code: ResetCode): void {
    if (code === ResetCode.PROTOCOL_ERROR || code === ResetCode.STREAM_CLOSED) this.#spend('provokedResets', 'provoked resets');
  }

  /** The remote has sent a frame that makes no sense and does no harm. */
  countJunk(what: string): void {
    log('debug', `ignored ${what}`);
    this.#spend('junk', 'frames that make no sense');
  }

  #spend(name: RateName, what: string): void {
    if (!this.#bucket(name).take()) throw ConnectionFault.tooMuch(this.#tooMuch(name, what));
  }

  #tooMuch(name: RateName, what: string): string {
    const { burst, perSecond } = this.limits[name];
    return `more than ${burst} at once and ${perSecond} per second ${what} (${name})`;
  }

  #bucket(name: RateName): TokenBucket {
    return (this.#buckets[name] ??= new TokenBucket(this.limits[name]));
  }
}
