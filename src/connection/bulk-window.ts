import { Subscription, asyncScheduler } from 'rxjs';
import { Fifo, LazySet } from '../util/collections.js';
import { steadyNow } from '../util/time.js';
import type { Backlog } from './outbound.js';

/** A whole frame with so many bytes of payload counts as bulk. So does every slice. */
export const BULK_FRAME_BYTES = 16 * 1024;
/** The smallest window while small frames of other streams contend with bulk. */
export const MIN_WINDOW_BYTES = 512 * 1024;
/** The smallest window otherwise. A reader that stops still receives this much, beyond its `pauseBytes`. */
export const LONE_WINDOW_BYTES = 1536 * 1024;
/**
 * The largest window. It keeps a line of 1 Gbit/s and 40 ms full. A receiver takes as much beyond its `pauseBytes` while it holds pongs back.
 * So a reader may stop behind a long line: its stream is not reset, and its socket is not paused.
 */
export const MAX_WINDOW_BYTES = 5.5 * 1024 * 1024;
/** The window stays at its smallest for a round trip of up to so many ms: both ends need as long for its bytes. */
export const SHORT_RTT_MS = 4;
/** Streams count as contending for so many ms after the last sign of it. */
export const CONTENDED_MS = 1_000;
/** The window waits so long for a pong. A receiver may hold pongs for up to 5 s. */
export const PATIENCE_MS = 6_000;
/** After so many ms without bulk the path is measured anew. */
export const REST_MS = 1_000;

/** The most outstanding pings, each for 256 KiB of bulk. A remote may answer none. */
export const MAX_PROBES = 1024;

/** Sends a ping; calls `answered(rttMs)`. Returns a cancel function. */
export type SendPing = (answered: (ms: number) => void) => () => void;

/** A ping that follows bulk and has no answer yet. */
interface Probe {
  /** Bytes of bulk sent before this ping. */
  readonly mark: number;
  readonly cancel: () => void;
}

/** Measures the path to the remote by pongs. */
class Path {
  #minRttMs = Infinity;
  /** The highest rate at which pongs answered bulk. */
  #maxBytesPerMs = 0;

  /** A pong has answered so many bytes within a round trip. */
  answered(bytes: number, rttMs: number): void {
    this.#minRttMs = Math.min(this.#minRttMs, rttMs);
    this.#maxBytesPerMs = Math.max(this.#maxBytesPerMs, bytes / Math.max(1, rttMs));
  }

  /** The bytes that keep the path full, with room for twice the measured rate; 0 while the path is short or unknown. */
  get windowBytes(): number {
    const isLong = this.#minRttMs > SHORT_RTT_MS && this.#minRttMs < Infinity;
    return isLong ? Math.min(2 * this.#maxBytesPerMs * this.#minRttMs, MAX_WINDOW_BYTES) : 0;
  }
}

/**
 * Limits the bulk on its way to the remote. Bulk means slices, large whole frames, and the many small values of one source. A sender cannot
 * see the buffers of the kernel, nor the payloads that the remote has not read. So pings count the arrived bulk, and bulk waits while too
 * much of it is unanswered. Other small frames never wait. A remote slows bulk when it holds pongs back.
 *
 * The window is twice the bandwidth-delay product: the highest rate at which pongs answered bulk × the shortest round trip. The factor of two
 * allows the rate to double with each round trip until the path is full. The window has a largest size, and a smallest one, which is smaller
 * while small frames of other streams contend with bulk.
 */
export class BulkWindow {
  #sentBytes = 0;
  #answeredBytes = 0;
  #sentAt = -Infinity;
  #contendedUntil = -Infinity;
  #path = new Path();
  /** Whether no pong came in time. Bulk then leaves unpaced until the next pong. */
  #isUnpaced = false;
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
    private readonly backlog: Pick<Backlog, 'hasMore'>,
  ) {}

  /** Bytes of bulk that may be unanswered. */
  get bytes(): number {
    return Math.max(this.#isContended() ? MIN_WINDOW_BYTES : LONE_WINDOW_BYTES, this.#path.windowBytes);
  }

  /** Whether bulk may leave. */
  get open(): boolean {
    const unanswered = this.#sentBytes - this.#answeredBytes;
    return unanswered < MIN_WINDOW_BYTES || this.#isUnpaced || unanswered < this.bytes;
  }

  /** Returns whether a stream's last frame was bulk and its next frame has to wait. */
  holds(stream: number): boolean {
    return this.#streams.has(stream) && !this.open;
  }

  /** A slice or a whole bulk frame leaves, or many small values have left. */
  sent(stream: number, bytes: number): void {
    const now = steadyNow();
    if (now - this.#sentAt >= REST_MS) this.#path = new Path();
    this.#sentAt = now;
    this.#streams.add(stream);
    this.#last = stream;
    this.#sentBytes += bytes;
  }

  /** A small frame leaves. It contends with bulk if another stream is in the middle of a transfer. */
  passed(stream: number): void {
    this.#streams.delete(stream);
    if (this.#streams.has(this.#last) && this.backlog.hasMore(this.#last)) this.#contendedUntil = steadyNow() + CONTENDED_MS;
  }

  /** The stream sends nothing more. */
  release(stream: number): void {
    this.#streams.delete(stream);
  }

  /** Bulk waits. Calls {@link opened} after an answer, or once no answer has come for {@link PATIENCE_MS}. */
  awaitAnswer(): void {
    if (!this.#patience.closed) return;
    this.#patience = asyncScheduler.schedule(() => {
      this.#isUnpaced = true;
      this.#arrived(this.#sentBytes);
    }, PATIENCE_MS);
    if (this.#probes.length === 0) this.probe();
  }

  stop(): void {
    this.#patience.unsubscribe();
  }

  /** Sends a ping after the bulk that has left. */
  probe(): void {
    const mark = this.#sentBytes;
    const answeredBefore = this.#answeredBytes;
    const path = this.#path;
    const cancel = this.ping((ms) => {
      path.answered(mark - answeredBefore, ms);
      this.#isUnpaced = false;
      for (let probe = this.#probes.peek(); probe !== undefined && probe.mark <= mark; probe = this.#probes.peek()) this.#cancelFirst();
      this.#arrived(mark);
    });
    this.#probes.push({ mark, cancel });
    if (this.#probes.length > MAX_PROBES) this.#cancelFirst();
  }

  /** Whether small frames of other streams contend with bulk. */
  #isContended(): boolean {
    return steadyNow() < this.#contendedUntil;
  }

  #cancelFirst(): void {
    this.#probes.shift()?.cancel();
  }

  /** All bulk up to `mark` has arrived, or counts as arrived. */
  #arrived(mark: number): void {
    this.#answeredBytes = Math.max(this.#answeredBytes, mark);
    if (this.#patience.closed) return;
    this.stop();
    this.opened();
  }
}
