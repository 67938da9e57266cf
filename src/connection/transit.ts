import type { Transport } from '../transport/transport.js';
import { Fifo } from '../util/collections.js';
import { TokenBucket, steadyNow } from '../util/time.js';
import type { ControlStream } from './control.js';
import { BYTES_PER_PING } from './inbound.js';

/** The slowest line that a connection waits for, in bytes per ms: a line of 8 kB/s less the cost of TCP, TLS and a busy machine. */
export const SLOWEST_BYTES_PER_MS = 6;
/** The UTF-16 units of text, or the bytes, that one ping follows while extra pings are left. Each slice is longer. */
export const LENGTH_PER_PING = 32 * 1024;
/**
 * Pings beyond the one that a receiver grants for each 256 KiB. They suffice for the bytes that a kernel takes at once, and use up little of
 * the receiver's limit.
 */
export const EXTRA_PINGS = { burst: 100, perSecond: 8 };
/** The most unanswered pings: a remote may answer none. */
export const MAX_UNANSWERED = 256;
/** The bytes that the remote may have to send before its pong. */
export const MAX_AHEAD_BYTES = 2 * 1024 * 1024;
/** The line counts as fast for so long after a pong that came within {@link FAST_RTT_MS}, in ms. */
export const FAST_MS = 1_000;
/** A line that carries {@link LENGTH_PER_PING} within this time, in ms, carries the data between two granted pings within 0.4 s. */
export const FAST_RTT_MS = 50;
/** A connection does not wait for data that arrives within this time, in ms. */
const SOON_MS = 2_000;

/** A ping that has left and has no answer yet. */
interface Mark {
  /** Bytes sent up to this ping. */
  readonly bytes: number;
  readonly sentAt: number;
  /** When the slowest line has carried this ping to the remote. */
  readonly dueAt: number;
}

/**
 * Estimates how many sent bytes the remote has not read yet. The kernel takes megabytes at once and then shows nothing for minutes, so pings
 * follow the data. A pong shows how far the remote has read. The speed of the slowest line bounds how long the next pong may take. All times
 * come from the rxjs clock.
 */
export class Transit {
  /** Made for the first ping that needs it. */
  #extraPings: TokenBucket | null = null;
  /** Pings that have left and have no answer yet, in order. */
  readonly #marks = new Fifo<Mark>();
  /** UTF-16 units and bytes sent since the last ping. */
  unmarkedLength = 0;
  #sentAt = 0;
  /** Sent bytes that {@link #freeAt} includes. */
  #countedBytes = 0;
  /** When the slowest line has carried all sent bytes. */
  #freeAt = 0;
  #arrivedBytes = 0;
  #arrivedAt = 0;
  /** When the line ceases to count as fast. */
  #fastUntil = 0;
  /** Bytes received since the last answer. As many bytes again may precede the next answer. */
  #aheadBytes = 0;

  constructor(
    private readonly transport: Pick<Transport, 'sentBytes'>,
    private readonly control: Pick<ControlStream, 'ping'>,
  ) {}

  /** When the remote last answered a ping; 0 before that. */
  get arrivedAt(): number {
    return this.#arrivedAt;
  }

  /** When the next answer is due on the slowest line; `-Infinity` if no answer is due. A remote does not count as silent before that. */
  get dueAt(): number {
    const mark = this.#marks.peek();
    if (mark === undefined) return -Infinity;
    const due = mark.sentAt > this.#arrivedAt ? mark.dueAt : this.#arrivedAt + msFor(mark.bytes - this.#arrivedBytes);
    return due + msFor(Math.min(this.#aheadBytes, MAX_AHEAD_BYTES));
  }

  /** Whether so much has been sent since the last ping that the slowest line may need long for it. */
  get needsMark(): boolean {
    return this.unmarkedLength >= LENGTH_PER_PING && this.#marks.length < MAX_UNANSWERED;
  }

  /**
   * The socket has accepted a message. Returns whether a ping has to follow the message.
   *
   * @param isBulk whether the window of bulk waits for the answer
   */
  sent(length: number, now: number, isBulk = false): boolean {
    this.#sentAt = now;
    this.unmarkedLength += length;
    return this.needsMark && this.#mayPing(isBulk);
  }

  /** A message has come in. */
  received(bytes: number): void {
    if (this.#marks.length > 0) this.#aheadBytes += bytes;
  }

  /** Sends a ping; calls `answered(rttMs)`. Returns a function that stops waiting. */
  ping(answered: (ms: number) => void): () => void {
    let mark: Mark | null = null;
    this.unmarkedLength = 0;
    return this.control.ping(
      (ms) => {
        if (mark !== null) this.#arrived(mark, ms);
        answered(ms);
      },
      undefined,
      () => {
        this.#count();
        mark = { bytes: this.#countedBytes, sentAt: this.#sentAt, dueAt: this.#freeAt };
        this.#marks.push(mark);
      },
    );
  }

  /** Runs `task` once the remote has read all sent bytes. Runs `task` now if the slowest line carries them soon. */
  whenArrived(task: () => void): void {
    this.#count();
    if (this.#freeAt - steadyNow() <= SOON_MS) task();
    else this.ping(task);
  }

  #mayPing(isBulk: boolean): boolean {
    if (this.unmarkedLength >= BYTES_PER_PING) return true;
    if (!isBulk && this.#isFast()) return false;
    this.#extraPings ??= new TokenBucket(EXTRA_PINGS);
    if (!this.#extraPings.take()) return false;
    // The receiver grants a part of this ping for the data before it.
    this.#extraPings.earn(this.unmarkedLength / BYTES_PER_PING);
    return true;
  }

  /** Whether all pings are answered, the last one just now and soon. A ping costs as much as a small message. */
  #isFast(): boolean {
    return this.#marks.length === 0 && this.#sentAt < this.#fastUntil;
  }

  #arrived({ bytes }: Mark, rttMs: number): void {
    if (bytes <= this.#arrivedBytes) return;
    while (Number(this.#marks.peek()?.bytes) <= bytes) this.#marks.shift();
    this.#count();
    this.#arrivedBytes = bytes;
    this.#arrivedAt = steadyNow();
    this.#fastUntil = rttMs < FAST_RTT_MS ? this.#arrivedAt + FAST_MS : 0;
    this.#freeAt = this.#arrivedAt + msFor(this.#countedBytes - bytes);
    this.#aheadBytes = 0;
  }

  /** Counts the bytes sent meanwhile as if they were sent with the last message. */
  #count(): void {
    const { sentBytes } = this.transport;
    if (sentBytes > this.#countedBytes) this.#freeAt = Math.max(this.#freeAt, this.#sentAt) + msFor(sentBytes - this.#countedBytes);
    this.#countedBytes = sentBytes;
  }
}

function msFor(bytes: number): number {
  return bytes / SLOWEST_BYTES_PER_MS;
}
