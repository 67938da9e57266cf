import { Subscription, timer } from 'rxjs';
import { steadyNow } from '../../transport/steady-clock.js';
import { Fifo } from '../../wire/fifo.js';
import { LazySet } from '../../wire/lazy.js';
import { BYTES_PER_PING } from '../base/flood-guard.js';

/** A whole frame with so many bytes of payload counts as bulk. So does every slice. */
export const BULK_FRAME_BYTES = 16 * 1024;
/** The smallest window: so many bytes of bulk may always be unanswered. */
export const MIN_WINDOW_BYTES = 512 * 1024;
/** The window stays at its smallest for a round trip of up to so many ms: both ends need as long for its bytes. */
export const SHORT_RTT_MS = 4;
/** Streams count as contending for so many ms after the last sign of it. The window also waits so long for a pong. */
export const CONTENDED_MS = 1_000;

/** The most outstanding pings, each for 256 KiB of bulk. A remote may answer none. */
export const MAX_PROBES = 1024;

/** Sends a ping; calls `answered(rttMs)`. Returns a cancel function. */
export type SendPing = (answered: (ms: number) => void) => () => void;

/** A ping that follows bulk and has no answer yet. */
interface Probe {
  /** Bytes of bulk sent before this ping. */
  readonly mark: number;
  readonly giveUp: () => void;
}

/** An estimate of the path to the remote, measured by pongs. */
interface PathEstimate {
  readonly minRttMs: number;
  /** The highest rate at which pongs answered bulk. */
  readonly maxBytesPerMs: number;
}

const UNKNOWN: PathEstimate = { minRttMs: Infinity, maxBytesPerMs: 0 };

/**
 * Limits the bulk on its way while small frames of other streams contend with it. Bulk means slices and large whole frames. A sender cannot
 * see the buffers of the kernel. If the sender is faster than the path, it fills megabytes of buffers, and every small frame waits behind
 * them. So pings count the arrived bulk, and bulk pauses while too much of it is unanswered. A transfer alone never pauses.
 *
 * The window is twice the bandwidth-delay product: the highest rate at which pongs answered bulk × the shortest round trip. The factor of two
 * allows the rate to double with each round trip until the path is full. If no pong comes within a second, all sent bulk counts as answered.
 */
export class BulkWindow {
  #sentBytes = 0;
  #answeredBytes = 0;
  #contendedUntil = -Infinity;
  /** The estimate since streams began to contend. */
  #path: PathEstimate | null = null;
  /** Unanswered pings, in order. A late pong still measures the path. */
  readonly #probes = new Fifo<Probe>();
  #patience = Subscription.EMPTY;
  /** Streams whose last frame was bulk. */
  readonly #streams = new LazySet<number>();
  /** The stream that sent bulk last. */
  #last = 0;

  constructor(
    private readonly ping: SendPing,
    /** Called once bulk may go on. */
    private readonly opened: () => void,
    /** Returns whether a stream has more to send. */
    private readonly hasMore: (stream: number) => boolean,
  ) {}

  /** Bytes of bulk that may be unanswered while streams contend. */
  get bytes(): number {
    const path = this.#path;
    if (path === null || path.minRttMs <= SHORT_RTT_MS) return MIN_WINDOW_BYTES;
    return Math.max(MIN_WINDOW_BYTES, 2 * path.maxBytesPerMs * path.minRttMs);
  }

  /** Whether bulk may leave. */
  get open(): boolean {
    return this.#sentBytes - this.#answeredBytes < this.bytes || !this.isContended;
  }

  /** Returns whether a stream's last frame was bulk and its next frame has to wait. */
  holds(stream: number): boolean {
    return this.#streams.has(stream) && !this.open;
  }

  /** A slice or a whole bulk frame leaves. */
  sent(stream: number, bytes: number): void {
    this.#streams.add(stream);
    this.#last = stream;
    this.#sentBytes += bytes;
  }

  /** Whether small frames of other streams contend with bulk. */
  get isContended(): boolean {
    return steadyNow() < this.#contendedUntil;
  }

  /** A small frame leaves. It contends with bulk if another stream is in the middle of a transfer. */
  passed(stream: number): void {
    this.#streams.delete(stream);
    if (this.#streams.has(this.#last) && this.hasMore(this.#last)) this.#contend();
  }

  /** The stream sends nothing more. */
  release(stream: number): void {
    this.#streams.delete(stream);
  }

  /** Bulk waits. Calls {@link opened} after an answer, or after a second without one. */
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
    // The first answer also covers the bytes that had filled the buffers before streams contended.
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

  /** All bulk up to `mark` has arrived, or counts as arrived. */
  #arrived(mark: number): void {
    this.#answeredBytes = Math.max(this.#answeredBytes, mark);
    this.stop();
    this.opened();
  }
}
