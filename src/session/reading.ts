import { timer } from 'rxjs';
import type { Subscription } from 'rxjs';
import type { Transport } from '../transport/transport.js';
import type { LiveStream } from './live-stream.js';

/**
 * Stops reading from the socket while a stream's consumer lags far behind, for `pauseMs` at the longest: a consumer that
 * never comes back may not hold up the other streams, and runs into `maxUnreadBytes` instead.
 */
export class Reading {
  readonly #crowded = new Set<LiveStream>();
  #pause: Subscription | null = null;

  constructor(
    private readonly transport: Transport,
    private readonly pauseMs: number,
  ) {}

  get paused(): boolean {
    return this.#pause !== null;
  }

  /** A stream holds too much that nobody has read. */
  crowd(stream: LiveStream): void {
    if (this.#crowded.has(stream)) return;
    this.#crowded.add(stream);
    if (this.#pause !== null) return;
    this.transport.pause();
    this.#pause = timer(this.pauseMs).subscribe(() => {
      this.#read();
    });
  }

  /** A stream's consumer has caught up, or left. */
  clear(stream: LiveStream): void {
    if (this.#crowded.delete(stream) && this.#crowded.size === 0) this.#read();
  }

  /** Reads on whatever the streams hold, because the connection is ending. */
  stop(): void {
    this.#crowded.clear();
    this.#read();
  }

  #read(): void {
    if (this.#pause === null) return;
    this.#pause.unsubscribe();
    this.#pause = null;
    this.transport.resume();
  }
}
