import type { HeldShare } from '../../wire/held-bytes.js';

/** One connection's share of limits that hold for several connections together. The program that has such limits implements it. */
export interface Share extends HeldShare {
  /** Whether the connection holds more received bytes than an equal share, while all connections together hold many. It then reads later. */
  readonly holdsMuch: boolean;
  /** Returns why there is no room for another stream of the remote, or `null`. */
  streamRefusal(): string | null;
  streamTaken(): void;
  streamReleased(): void;
  /** So many bytes more are queued, or are about to be written. */
  queued(bytes: number): void;
  /**
   * Returns whether senders have to wait: the connection has more bytes to send than an equal share, and all connections together have
   * many. If so, calls the task of {@link onRoom} when that is over.
   */
  mustWait(): boolean;
  /** Whether so many bytes more to send are too many. */
  overflowsWith(bytes: number): boolean;
  onRoom(task: () => void): void;
}
