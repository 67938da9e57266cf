import type { HeldShare } from '../../wire/held-bytes.js';

/** One connection's share of limits that hold for several connections together. A program with such limits implements it. */
export interface Share extends HeldShare {
  /** Whether the connection holds more received bytes than an equal share, while all connections together hold many. If so, it reads later. */
  readonly holdsMuch: boolean;
  /** Returns why the remote may not open another stream, or `null`. */
  streamRefusal(): string | null;
  streamTaken(): void;
  streamReleased(): void;
  /** So many more bytes were queued, or are about to be written. */
  queued(bytes: number): void;
  /**
   * Returns whether senders have to wait. They wait while the connection has more bytes to send than an equal share, and all connections
   * together have many. Afterwards the share calls the task of {@link onRoom}.
   */
  mustWait(): boolean;
  /** Returns whether so many more bytes to send would exceed a limit. */
  overflowsWith(bytes: number): boolean;
  onRoom(task: () => void): void;
}
