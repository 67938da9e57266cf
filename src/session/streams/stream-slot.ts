import type { StreamTable } from './stream-table.js';

/**
 * The place of a remote stream, one of `maxStreams`. The stream keeps its place until it is closed, its reset is written, and its handler
 * has settled. So a remote that resets fast, or does not read, gets no further places meanwhile.
 */
export class StreamSlot {
  #live = true;
  #running = false;
  #resetting = false;
  #released = false;

  constructor(private readonly table: StreamTable) {}

  /** Whether the handler is running. */
  get running(): boolean {
    return this.#running;
  }

  /** The handler has started. */
  handlerStarted(): void {
    if (this.#live) this.#running = true;
  }

  /** The handler has settled. */
  handlerSettled(): void {
    this.#running = false;
    this.#check();
  }

  /** The stream is closed. */
  close(): void {
    this.#live = false;
    this.#check();
  }

  /** Keeps the place until the queued reset is written. */
  awaitReset(): void {
    this.#resetting = true;
  }

  resetWritten(): void {
    this.#resetting = false;
    this.#check();
  }

  #check(): void {
    if (this.#released || this.#live || this.#running || this.#resetting) return;
    this.#released = true;
    this.table.releaseSlot();
  }
}
