import { log } from '../logger.js';
import { ConnectionFault } from '../wire/fault.js';
import type { Limits, Rate } from '../wire/limits.js';
import { ResetCode } from '../wire/reset-code.js';
import { Bucket } from './bucket.js';

/** So many received bytes earn the remote one more ping: a fast sender may probe its own bulk. */
export const BYTES_PER_PING = 256 * 1024;

/** Counts what a remote may do now and then, but not without end. Over a limit it throws the fault of the connection. */
export class Flood {
  readonly #resets: Bucket;
  readonly #provoked: Bucket;
  readonly #junk: Bucket;
  readonly #pings: Bucket;
  #unpaidBytes = 0;

  constructor(private readonly limits: Limits) {
    this.#resets = new Bucket(limits.resets);
    this.#provoked = new Bucket(limits.provokedResets);
    this.#junk = new Bucket(limits.junk);
    this.#pings = new Bucket(limits.pings);
  }

  /** Why new streams are refused for now, or `null`: too many were reset before their handler had settled. */
  get refusal(): string | null {
    return this.#resets.empty ? `more than ${spell(this.limits.resets)} resets of running handlers (resets)` : null;
  }

  received(bytes: number): void {
    this.#unpaidBytes += bytes;
    if (this.#unpaidBytes < BYTES_PER_PING) return;
    this.#pings.earn(Math.floor(this.#unpaidBytes / BYTES_PER_PING));
    this.#unpaidBytes %= BYTES_PER_PING;
  }

  ping(): void {
    if (!this.#pings.take()) throw ConnectionFault.tooMuch(`more than ${spell(this.limits.pings)} pings (pings)`);
  }

  /** The remote has reset a stream whose handler is still at work. */
  earlyReset(): void {
    this.#resets.take();
  }

  /** The remote made this side send a reset. */
  provokedReset(code: ResetCode): void {
    if (code !== ResetCode.PROTOCOL_ERROR && code !== ResetCode.STREAM_CLOSED) return;
    if (!this.#provoked.take())
      throw ConnectionFault.tooMuch(`more than ${spell(this.limits.provokedResets)} provoked resets (provokedResets)`);
  }

  /** A frame that makes no sense and does no harm. */
  junk(what: string): void {
    log('debug', `rxmux: ignored ${what}`);
    if (!this.#junk.take()) throw ConnectionFault.tooMuch(`more than ${spell(this.limits.junk)} frames that make no sense (junk)`);
  }
}

function spell(rate: Rate): string {
  return `${rate.burst} at once and ${rate.perSecond} per second`;
}
