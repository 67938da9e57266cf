import type { Subscription } from 'rxjs';
import { restTimer } from '../util/time.js';
import { ResetCode } from '../wire/codes.js';
import type { WatchHost } from './watchdog.js';

/** So many received bytes excuse one second of silence. No line in use is slower, so a busy line never counts as silent. */
const BYTES_PER_SECOND = 1024;

/**
 * Resets streams whose next fragment does not come. Each unfinished payload may wait through `reassemblyTimeoutMs` of silence after its
 * own last fragment. Each other message excuses earlier silence, for as long as a line of 1 KiB/s needs to carry that message.
 *
 * The watch is also a clock. That clock shows the silence so far, and stands still while this side slows the remote. The watch holds at most one
 * timer, and no timer while every payload is whole.
 */
export class FragmentWatch {
  #timer: Subscription | null = null;
  /** The time of this clock right after the last message. */
  #silentMs = 0;
  #receivedAt = 0;
  /** No payload counts silence before this time, and no message excuses such silence. */
  #sinceMs = 0;

  constructor(private readonly host: Pick<WatchHost, 'reading' | 'hold' | 'limits' | 'reassembly' | 'streams'>) {}

  /** Returns the silence so far, in ms. Compare only times of the same watch. */
  now(): number {
    return this.#silentMs + this.#clock() - this.#receivedAt;
  }

  /** A message has come in. */
  received(bytes: number): void {
    if (this.#timer === null) return;
    const silentMs = this.now();
    // Bounded: a burst of 64 MiB would otherwise excuse 18 hours of silence.
    this.#sinceMs = Math.max(this.#sinceMs, silentMs - this.host.limits.reassemblyTimeoutMs);
    this.#silentMs = Math.max(this.#sinceMs, silentMs - Math.ceil((1_000 * bytes) / BYTES_PER_SECOND));
    this.#receivedAt = this.#clock();
  }

  /** A fragment has come in, and more are to follow. */
  begin(): void {
    if (this.#timer !== null) return;
    this.#silentMs = this.#sinceMs = 0;
    this.#receivedAt = this.#clock();
    this.#wait();
  }

  stop(): void {
    this.#timer?.unsubscribe();
  }

  /** A clock that stands still while this side slows the remote. */
  #clock(): number {
    return this.host.reading.now() - this.host.hold.heldMs;
  }

  #wait(): void {
    const { reading, reassembly, limits } = this.host;
    const now = this.now();
    const remainingMs = Math.max(this.#sinceMs, Math.min(now, reassembly.oldestFragmentAt)) + limits.reassemblyTimeoutMs - now;
    this.#timer = restTimer(reading, remainingMs, limits.reassemblyTimeoutMs, (onTime) => {
      // A late timer proves nothing about the remote: start the whole period again.
      if (!onTime) this.#sinceMs = this.now();
      this.#resetOverdue();
      if (reassembly.unfinished.length > 0) this.#wait();
      else this.#timer = null;
    });
  }

  #resetOverdue(): void {
    const { limits, reassembly, streams } = this.host;
    const ms = limits.reassemblyTimeoutMs;
    const overdueAt = this.now() - ms;
    if (overdueAt < this.#sinceMs) return;
    for (const id of reassembly.unfinishedSince(overdueAt))
      streams.get(id)?.reset('library', ResetCode.DEADLINE_EXCEEDED, `no fragment for ${ms} ms (reassemblyTimeoutMs)`);
  }
}
