import { Subscription, timer } from 'rxjs';
import { steadyNow } from '../../transport/steady-clock.js';
import { Fifo } from '../../wire/fifo.js';
import { LazySet } from '../../wire/lazy.js';
import { BYTES_PER_PING } from '../base/flood-guard.js';

/** A whole frame with so many bytes of payload is bulk, as every slice is. */
export const BULK_FRAME_BYTES = 16 * 1024;
/** Bytes of bulk that may be unanswered at least. */
export const MIN_WINDOW_BYTES = 512 * 1024;
/** With a round trip of up to this many ms the window stays at its least: both ends take as long for what is in it. */
export const SHORT_RTT_MS = 4;
/** How long streams are taken to contend after the last sign of it, and how long a pong is waited for, in ms. */
export const CONTENDED_MS = 1_000;

/** Pings that are waited for at most, each for 256 KiB of bulk. A remote may answer none. */
export const MAX_PROBES = 1024;

/** Sends a ping; `answered` gets the round trip in ms. Gives what waits for it no longer. */
export type SendPing = (answered: (ms: number) => void) => () => void;

/** A ping that follows bulk and has not been answered. */
interface Probe {
  /** How much bulk was sent before it. */
  readonly mark: number;
  readonly giveUp: () => void;
}

/** What pongs tell of the path to the remote. */
interface PathEstimate {
  readonly minRttMs: number;
  /** The highest rate at which bulk was answered. */
  readonly maxBytesPerMs: number;
}

const UNKNOWN: PathEstimate = { minRttMs: Infinity, maxBytesPerMs: 0 };

/**
 * How much bulk, slices and large whole frames, may be on its way while small frames of other streams want to go the same way. What
 * the kernel holds cannot be seen: a sender that is faster than the path fills megabytes of buffers, and every small frame waits behind
 * them. So bulk is counted by pings, and stops when too much of it is unanswered. A transfer that is alone is never held up.
 *
 * The window is twice the bandwidth-delay product: the highest rate at which bulk was answered × the shortest round trip. Twice, so that
 * the rate can double with each round trip until the path is full. Where no pong comes in a second, all that was sent counts as answered.
 */
export class BulkWindow {
  #sentBytes = 0;
  #answeredBytes = 0;
  #contendedUntil = -Infinity;
  /** What the pongs have told since streams contend. */
  #path: PathEstimate | null = null;
  /** Those sent and not answered, in order; a pong that comes late still tells of the path. */
  readonly #probes = new Fifo<Probe>();
  #patience = Subscription.EMPTY;
  /** Those whose last frame was bulk. */
  readonly #streams = new LazySet<number>();
  /** The one of them that sent last. */
  #last = 0;

  constructor(
    private readonly ping: SendPing,
    /** Called when bulk may go on. */
    private readonly opened: () => void,
    /** Whether a stream has more to send. */
    private readonly hasMore: (stream: number) => boolean,
  ) {}

  /** How much bulk may be unanswered while streams contend. */
  get bytes(): number {
    const path = this.#path;
    if (path === null || path.minRttMs <= SHORT_RTT_MS) return MIN_WINDOW_BYTES;
    return Math.max(MIN_WINDOW_BYTES, 2 * path.maxBytesPerMs * path.minRttMs);
  }

  /** Whether bulk may leave. */
  get open(): boolean {
    return this.#sentBytes - this.#answeredBytes < this.bytes || !this.isContended;
  }

  /** Whether a stream's last frame was bulk, and its next one has to wait. */
  holds(stream: number): boolean {
    return this.#streams.has(stream) && !this.open;
  }

  /** A slice leaves, or a whole frame that is bulk. */
  sent(stream: number, bytes: number): void {
    this.#streams.add(stream);
    this.#last = stream;
    this.#sentBytes += bytes;
  }

  /** Whether small frames of other streams want to go the same way as bulk. */
  get isContended(): boolean {
    return steadyNow() < this.#contendedUntil;
  }

  /** A small frame leaves. In the middle of another stream's transfer it has to share the way. */
  passed(stream: number): void {
    this.#streams.delete(stream);
    if (this.#streams.has(this.#last) && this.hasMore(this.#last)) this.#contend();
  }

  /** A stream sends nothing more. */
  release(stream: number): void {
    this.#streams.delete(stream);
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

  #contend(): void {
    const begins = !this.isContended;
    this.#contendedUntil = steadyNow() + CONTENDED_MS;
    if (!begins) return;
    this.#path = null;
    if (this.#sentBytes - this.#answeredBytes >= BYTES_PER_PING) this.probe();
  }

  /** Sends a ping after the bulk that has left. */
  probe(): void {
    const mark = this.#sentBytes;
    // The first answer comes after all that had filled the buffers before streams contended.
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
