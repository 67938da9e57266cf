import type { StreamTable } from './stream-table.js';

/**
 * The place of a stream that the remote opened, one of `maxStreams`. It is kept until the stream is closed, a reset of it
 * is written, and its handler has settled: a remote that resets fast, or does not read, gets no others meanwhile.
 */
export class StreamSlot {
  #live = true;
  #running = false;
  #resetting = false;
  #released = false;

  constructor(private readonly table: StreamTable) {}

  /** Whether the handler is at work. */
  get running(): boolean {
    return this.#running;
  }

  /** The handler begins. */
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

  /** A reset waits to be written. */
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
