import { steadyNow } from '../../transport/steady-clock.js';
import type { Transport } from '../../transport/transport.js';
import { Fifo } from '../../wire/fifo.js';
import { BYTES_PER_PING } from '../base/flood-guard.js';
import { TokenBucket } from '../base/token-bucket.js';

/** The slowest line that a session waits for, in bytes a ms: a line of 8 kB/s with what TCP, TLS and a busy machine cost. */
export const SLOWEST_BYTES_PER_MS = 6;
/** A ping follows so much, in UTF-16 units of text and bytes, while there are extra pings. Each slice is longer. */
export const LENGTH_PER_PING = 32 * 1024;
/** Pings beyond the one that a receiver grants for each 256 KiB: enough for what a kernel takes at once, and few of what a receiver allows. */
export const EXTRA_PINGS = { burst: 100, perSecond: 8 };
/** Unanswered pings at most: a remote may answer none. */
export const MAX_UNANSWERED = 256;
/** What a remote may have to send before its pong, in bytes. */
export const MAX_AHEAD_BYTES = 2 * 1024 * 1024;
/** What takes no longer than this is not waited for, in ms. */
const SOON_MS = 2_000;

/** A ping that has left and was not answered. */
interface Mark {
  /** What was sent up to it, in bytes. */
  readonly bytes: number;
  readonly sentAt: number;
  /** When the slowest line has brought it. */
  readonly dueAt: number;
}

/** Sends the pings of a connection. */
export interface PingSender {
  /** Calls `left` once the socket has the ping, and `answered` with the round trip in ms. Returns a function that stops waiting. */
  ping(answered: (ms: number) => void, lost?: () => void, left?: () => void): () => void;
}

/**
 * What is on its way to the remote. The kernel takes megabytes at once and then shows nothing for minutes, so pings follow the data: a pong
 * tells how far the remote has read, and a line of 6 kB/s tells how long the next may take. Times are those of the rxjs clock.
 */
export class Transit {
  readonly #extraPings = new TokenBucket(EXTRA_PINGS);
  /** Pings that have left and were not answered, in order. */
  readonly #marks = new Fifo<Mark>();
  /** Sent since the last ping, in UTF-16 units and bytes. */
  #unmarkedLength = 0;
  #sentAt = -Infinity;
  /** Up to here {@link #freeAt} counts. */
  #countedBytes = 0;
  /** When the slowest line has brought all that was sent. */
  #freeAt = -Infinity;
  #arrivedBytes = 0;
  #arrivedAt = -Infinity;
  /** Received since the last answer: the next one may be behind as much again. */
  #aheadBytes = 0;

  constructor(
    private readonly transport: Pick<Transport, 'sentBytes'>,
    private readonly control: PingSender,
  ) {}

  /** When the remote last answered a ping; `-Infinity` before that. */
  get arrivedAt(): number {
    return this.#arrivedAt;
  }

  /** When the next answer is due on the slowest line; `-Infinity` where none is. A remote is not silent before that. */
  get dueAt(): number {
    const mark = this.#marks.peek();
    if (mark === undefined) return -Infinity;
    const due = mark.sentAt > this.#arrivedAt ? mark.dueAt : this.#arrivedAt + msFor(mark.bytes - this.#arrivedBytes);
    return due + msFor(Math.min(this.#aheadBytes, MAX_AHEAD_BYTES));
  }

  /** A message was given to the socket. Returns whether a ping has to follow it. */
  sent(length: number, now: number): boolean {
    this.#sentAt = now;
    this.#unmarkedLength += length;
    return this.#unmarkedLength >= LENGTH_PER_PING && this.#mayPing();
  }

  /** A message has come in. */
  received(bytes: number): void {
    if (this.#marks.length > 0) this.#aheadBytes += bytes;
  }

  /** Sends a ping; `answered` gets the round trip in ms. Returns what gives up waiting. */
  readonly ping = (answered: (ms: number) => void): (() => void) => {
    let mark: Mark | null = null;
    this.#unmarkedLength = 0;
    return this.control.ping(
      (ms) => {
        if (mark !== null) this.#arrived(mark);
        answered(ms);
      },
      undefined,
      () => {
        this.#count();
        mark = { bytes: this.#countedBytes, sentAt: this.#sentAt, dueAt: this.#freeAt };
        this.#marks.push(mark);
      },
    );
  };

  /** Runs `task` once the remote has read all that was sent, or now where the slowest line brings it soon. */
  whenArrived(task: () => void): void {
    this.#count();
    if (this.#freeAt - steadyNow() <= SOON_MS) task();
    else this.ping(task);
  }

  #mayPing(): boolean {
    if (this.#marks.length >= MAX_UNANSWERED) return false;
    return this.#unmarkedLength >= BYTES_PER_PING || this.#extraPings.take();
  }

  #arrived({ bytes }: Mark): void {
    if (bytes <= this.#arrivedBytes) return;
    while (Number(this.#marks.peek()?.bytes) <= bytes) this.#marks.shift();
    this.#count();
    this.#arrivedBytes = bytes;
    this.#arrivedAt = steadyNow();
    this.#freeAt = this.#arrivedAt + msFor(this.#countedBytes - bytes);
    this.#aheadBytes = 0;
  }

  /** Counts what was sent meanwhile as if it had been sent together with the last message. */
  #count(): void {
    const { sentBytes } = this.transport;
    if (sentBytes > this.#countedBytes) this.#freeAt = Math.max(this.#freeAt, this.#sentAt) + msFor(sentBytes - this.#countedBytes);
    this.#countedBytes = sentBytes;
  }
}

function msFor(bytes: number): number {
  return bytes / SLOWEST_BYTES_PER_MS;
}
