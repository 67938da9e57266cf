import { Watch } from '../util/time.js';
import type { Clock } from '../util/time.js';
import { ResetCode } from '../wire/codes.js';
import type { Connection } from './connection.js';

/** The received bytes that excuse one second of silence. No line in use is slower, so a busy line never counts as silent. */
const BYTES_PER_SECOND = 1024;

/**
 * Resets streams whose next fragment does not come. Each unfinished payload may wait through `reassemblyTimeoutMs` of silence after its
 * own last fragment. Each other message excuses earlier silence, for as long as a line of 1 KiB/s needs to carry that message.
 *
 * The watch is also a clock. That clock shows the silence so far, and stands still while this side slows the remote. The watch holds at most one
 * timer, and no timer while every payload is whole.
 */
export class FragmentWatch implements Clock {
  /** `null` before the first fragment that others are to follow. */
  #watch: Watch | null = null;
  /** The time of this clock right after the last message. */
  #silentMs = 0;
  #receivedAt = 0;

  constructor(private readonly connection: Pick<Connection, 'reading' | 'budget' | 'limits' | 'reassembly' | 'streams'>) {}

  /** Returns the silence so far, in ms. Compare only times of the same watch. */
  now(): number {
    return this.#silentMs + this.#readMs() - this.#receivedAt;
  }

  get paused(): boolean {
    return this.connection.reading.paused;
  }

  /** A message has come in. */
  received(bytes: number): void {
    const watch = this.#watch;
    if (watch?.isRunning !== true) return;
    const silentMs = this.now();
    // Bounded: a burst of 64 MiB would otherwise excuse 18 hours of silence.
    watch.since = Math.max(watch.since, silentMs - this.connection.limits.reassemblyTimeoutMs);
    this.#silentMs = Math.max(watch.since, silentMs - Math.ceil((1_000 * bytes) / BYTES_PER_SECOND));
    this.#receivedAt = this.#readMs();
  }

  /** A fragment has come in, and more are to follow. */
  begin(): void {
    if (this.#watch?.isRunning === true) return;
    const { reassembly, limits } = this.connection;
    this.#silentMs = 0;
    this.#receivedAt = this.#readMs();
    this.#watch ??= new Watch(
      this,
      () => limits.reassemblyTimeoutMs,
      () => Math.min(this.now(), reassembly.oldestFragmentAt),
      () => reassembly.unfinished.length > 0,
      () => this.#resetOverdue(),
    );
    this.#watch.begin();
  }

  stop(): void {
    this.#watch?.stop();
  }

  /** A clock that stands still while this side slows the remote. */
  #readMs(): number {
    return this.connection.reading.now() - this.connection.budget.heldMs;
  }

  #resetOverdue(): number | null {
    const { limits, reassembly, streams } = this.connection;
    const ms = limits.reassemblyTimeoutMs;
    for (const id of reassembly.unfinishedSince(this.now() - ms))
      streams.get(id)?.reset('library', ResetCode.DEADLINE_EXCEEDED, `no fragment for ${ms} ms (reassemblyTimeoutMs)`);
    return reassembly.unfinished.length > 0 ? Number(this.#watch?.since) : null;
  }
}
