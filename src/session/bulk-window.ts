import { asyncScheduler, Subscription, timer } from 'rxjs';
import { Fifo } from '../wire/fifo.js';
import { BYTES_PER_PING } from './flood-guard.js';

/** Behind so much bulk there is a ping, in bytes: as much as the remote grants one for. */
export const PING_BYTES = BYTES_PER_PING;
/** So much bulk may be under way unanswered, in bytes; more where the line is long. */
export const MIN_WINDOW_BYTES = 512 * 1024;
/** A line with a round trip of no more than this needs no wider window: both ends take as long for what is in the least, in ms. */
export const SHORT_RTT_MS = 4;
/** How long streams are taken to contend behind the last sign of it, and how long a pong is waited for, in ms. */
export const CONTENDED_MS = 1_000;

/** So many pings are waited for at most; behind them lie 256 MiB. A remote may answer none. */
export const MAX_PROBES = 1024;

/** Sends a ping; `answered` gets the round trip in ms. Gives what waits for it no longer. */
export type SendPing = (answered: (ms: number) => void) => () => void;

/** A ping behind bulk that nobody has answered yet. */
interface Probe {
  /** How much bulk was sent before it. */
  readonly mark: number;
  readonly giveUp: () => void;
}

interface PathEstimate {
  readonly minRttMs: number;
  /** The most that was answered within a round trip, by its length. */
  readonly maxBytesPerMs: number;
}

const UNKNOWN: PathEstimate = { minRttMs: Infinity, maxBytesPerMs: 0 };

/**
 * How much bulk may be on its way while small frames of other streams want to go the same way. What the kernel holds cannot
 * be seen: a sender that is faster than the line fills megabytes of buffers, and every small frame waits behind them. So
 * bulk is counted by pings, and stops when too much of it is unanswered. A transfer that is alone is never held up.
 *
 * The window grows with the line: to twice what was answered within the shortest round trip, which lets the rate double with
 * each until it is that of the line. A remote that answers no pings gets one window a second.
 */
export class BulkWindow {
  #sentBytes = 0;
  #answeredBytes = 0;
  #pingedBytes = 0;
  #contendedUntil = -Infinity;
  /** What the answers have shown since streams contend. */
  #path: PathEstimate | null = null;
  /** Those sent and not answered, in order; a pong that comes late still tells of the line. */
  readonly #probes = new Fifo<Probe>();
  #patience = Subscription.EMPTY;

  constructor(
    private readonly ping: SendPing,
    /** Called when bulk may go on. */
    private readonly opened: () => void,
  ) {}

  /** How much bulk may be unanswered while streams contend. */
  get bytes(): number {
    const line = this.#path;
    if (line === null || line.minRttMs <= SHORT_RTT_MS) return MIN_WINDOW_BYTES;
    return Math.max(MIN_WINDOW_BYTES, 2 * line.maxBytesPerMs * line.minRttMs);
  }

  /** Whether a slice of bulk may leave. */
  get open(): boolean {
    return this.#sentBytes - this.#answeredBytes < this.bytes || !this.#contended;
  }

  /** A slice of bulk has left. */
  sent(bytes: number): void {
    this.#sentBytes += bytes;
    if (this.#contended && this.#sentBytes - this.#pingedBytes >= PING_BYTES) this.#probe();
  }

  /** A small frame has left in the middle of a transfer. */
  contend(): void {
    const begins = !this.#contended;
    this.#contendedUntil = asyncScheduler.now() + CONTENDED_MS;
    if (!begins) return;
    this.#path = null;
    if (this.#sentBytes - this.#answeredBytes >= PING_BYTES) this.#probe();
  }

  /** Bulk waits: {@link opened} comes with an answer, or when there is none in time. */
  awaitAnswer(): void {
    if (!this.#patience.closed) return;
    this.#patience = timer(CONTENDED_MS).subscribe(() => {
      this.#arrived(this.#sentBytes);
    });
  }

  stop(): void {
    this.#patience.unsubscribe();
  }

  get #contended(): boolean {
    return asyncScheduler.now() < this.#contendedUntil;
  }

  #probe(): void {
    const mark = (this.#pingedBytes = this.#sentBytes);
    // The first answer comes behind all that had filled the buffers before streams contended.
    const answeredBefore = this.#path === null ? mark : this.#answeredBytes;
    const giveUp = this.ping((ms) => {
      const { minRttMs, maxBytesPerMs } = this.#path ?? UNKNOWN;
      this.#path = {
        minRttMs: Math.min(minRttMs, ms),
        maxBytesPerMs: Math.max(maxBytesPerMs, (mark - answeredBefore) / Math.max(1, ms)),
      };
      for (let probe = this.#probes.peek(); probe !== undefined && probe.mark <= mark; probe = this.#probes.peek()) this.#giveUpFirst();
      this.#arrived(mark);
    });
    this.#probes.push({ mark, giveUp });
    if (this.#probes.length > MAX_PROBES) this.#giveUpFirst();
  }

  #giveUpFirst(): void {
    this.#probes.shift()?.giveUp();
  }

  /** All up to a mark has arrived, or is taken to have. */
  #arrived(mark: number): void {
    this.#answeredBytes = Math.max(this.#answeredBytes, mark);
    this.stop();
    this.opened();
  }
}
