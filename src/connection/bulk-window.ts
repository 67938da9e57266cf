import { Subscription, asyncScheduler } from 'rxjs';
import { Fifo, LazySet } from '../util/collections.js';
import { steadyNow } from '../util/time.js';
import { BYTES_PER_PING } from './inbound.js';

/** From this payload size on, a whole frame counts as bulk. So does every slice. */
export const BULK_FRAME_BYTES = 16 * 1024;
/** The smallest window, in which two slices leave: the remote answers one while the line carries the other. */
export const MIN_WINDOW_BYTES = 72 * 1024;
/** The window of a fast line while small frames of other streams contend with bulk. */
export const CONTENDED_WINDOW_BYTES = 512 * 1024;
/** The window of a fast line otherwise. A reader that stops still receives this much, beyond its `pauseBytes`. */
export const LONE_WINDOW_BYTES = 1536 * 1024;
/** The time in ms within which other lines carry their window, because a small frame behind it waits as long. */
export const QUEUE_MS = 200;
/** A pong vouches for at most this multiple of the bulk that it answers: a line may carry its first bytes faster than the others. */
export const MOST_GROWTH = 4;
/** On average the last slice exceeds the window by so much. */
const EXCESS_BYTES = 32 * 1024;
/** A time counts as shorter than another from this part of it on. */
const SHORTER = 0.8;
/** A measured figure is forgotten after this time in ms, or at most twice as late, once later pongs replace it. */
export const RECENT_MS = 1_000;
/**
 * The largest window. It keeps a line of 1 Gbit/s and 40 ms full. A receiver takes as much beyond its `pauseBytes` while it holds pongs back.
 * So a reader may stop behind a long line: its stream is not reset, and its socket is not paused.
 */
export const MAX_WINDOW_BYTES = 5.5 * 1024 * 1024;
/** Round trips up to this long do not grow the window: handling its bytes takes as long anyway. */
export const SHORT_RTT_MS = 4;
/** How long streams count as contending after the last sign of it, in ms. */
export const CONTENDED_MS = 1_000;
/** The window waits so long for a pong. A receiver may hold pongs for up to 5 s. */
export const PATIENCE_MS = 6_000;
/** After this time without bulk, in ms, the path is measured anew. */
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

/** The bulk that pongs had answered when pings were sent. Pongs of the same ms were read together, so the later ones still count. */
interface Answered {
  readonly at: number;
  bytes: number;
  /** The first answer to one of these pings. */
  first?: { readonly bytes: number; readonly rttMs: number };
}

/** The highest of the recent figures. A line may slow down, so later figures replace earlier ones. */
class RecentMost {
  #recent = 0;
  #earlier = 0;
  #since = -Infinity;

  get value(): number {
    return Math.max(this.#earlier, this.#recent);
  }

  add(figure: number): void {
    const now = steadyNow();
    if (now - this.#since >= RECENT_MS) {
      this.#earlier = this.#recent;
      this.#recent = 0;
      this.#since = now;
    }
    this.#recent = Math.max(this.#recent, figure);
  }
}

/** Measures the path to the remote by pongs. */
class Path {
  #minRttMs = Infinity;
  /** The bulk that was answered within about that time. */
  #minRttBytes = 0;
  /** The highest recent rate at which pongs answered bulk. */
  readonly #bytesPerMs = new RecentMost();

  /** A pong has answered `bytes` within a round trip. */
  answered(bytes: number, rttMs: number): void {
    if (rttMs < SHORTER * this.#minRttMs) this.#minRttBytes = bytes;
    this.#minRttMs = Math.min(this.#minRttMs, rttMs);
    this.#bytesPerMs.add(bytes / rttMs);
  }

  /** The bytes that keep the path full, with room for twice the measured rate; 0 while the path is short or unknown. */
  get windowBytes(): number {
    const isLong = this.#minRttMs > SHORT_RTT_MS && this.#minRttMs < Infinity;
    return isLong ? Math.min(2 * this.#bytesPerMs.value * this.#minRttMs, MAX_WINDOW_BYTES) : 0;
  }

  /** The same for a slow line, which needs much of the shortest round trip for the bulk itself. 0 unless the path alone is long, too. */
  get slowWindowBytes(): number {
    const rate = this.#bytesPerMs.value;
    const pathBytes = rate * this.#minRttMs - this.#minRttBytes;
    return pathBytes > rate * QUEUE_MS ? this.windowBytes - this.#minRttBytes : 0;
  }
}

/**
 * Limits the bulk on its way to the remote. Bulk means slices, large whole frames, and the many small values of one source. A sender cannot
 * see the buffers of the kernel, nor the payloads that the remote has not read. So pings count the arrived bulk, and bulk waits while too
 * much of it is unanswered. Other small frames never wait. A remote slows bulk when it holds pongs back.
 *
 * The window is what the line carries within {@link QUEUE_MS}, at the highest recent rate at which pongs answered bulk. So a small frame
 * waits no longer behind bulk, unless two slices take longer. A fast line has a fixed window, which is smaller while small frames of other
 * streams contend with bulk. Nothing is known of a line before its first pong, so its window is then the smallest.
 *
 * A long path needs more: twice the bandwidth-delay product, that rate × the shortest round trip. The factor of two allows the rate to double
 * with each round trip until the path is full.
 */
export class BulkWindow<S> {
  #sentBytes = 0;
  #answered: Answered = { at: -Infinity, bytes: 0 };
  #sentAt = -Infinity;
  #contendedUntil = -Infinity;
  #path = new Path();
  /** The bulk that pongs vouch for. Survives a rest, so that a later transfer begins at full speed. */
  readonly #vouched = new RecentMost();
  /** Whether no pong came in time. Bulk then leaves unpaced until the next pong. */
  #isUnpaced = false;
  /** Unanswered pings, in order. A late pong still measures the path. */
  readonly #probes = new Fifo<Probe>();
  #patience = Subscription.EMPTY;
  /** Streams whose last frame was bulk. */
  readonly #streams = new LazySet<S>();
  /** The stream that sent bulk last. */
  #last: S | null = null;

  constructor(
    private readonly ping: SendPing,
    /** Called once bulk may go on. */
    private readonly opened: () => void,
    /** Whether a stream has queued frames, or waits to be pulled. */
    private readonly hasMore: (stream: S) => boolean,
  ) {}

  /** Bytes of bulk that may be unanswered. */
  get bytes(): number {
    const fastBytes = this.#isContended() ? CONTENDED_WINDOW_BYTES : LONE_WINDOW_BYTES;
    const { windowBytes, slowWindowBytes } = this.#path;
    if (windowBytes >= fastBytes) return windowBytes;
    return Math.max(MIN_WINDOW_BYTES, Math.min(fastBytes, Math.max(this.#vouched.value, slowWindowBytes) - EXCESS_BYTES));
  }

  /** Whether bulk may leave. */
  get open(): boolean {
    const unanswered = this.#sentBytes - this.#answered.bytes;
    if (unanswered < MIN_WINDOW_BYTES || this.#isUnpaced) return true;
    // Without a ping under way, bulk waits for no answer before it has earned another ping.
    if (unanswered < BYTES_PER_PING && this.#probes.length === 0) return true;
    return unanswered < this.bytes;
  }

  /** Returns whether a stream's last frame was bulk and its next frame has to wait. */
  holds(stream: S | null): boolean {
    return stream !== null && this.#streams.has(stream) && !this.open;
  }

  /** A slice or a whole bulk frame leaves, or many small values have left. */
  sent(stream: S, bytes: number): void {
    const now = steadyNow();
    if (now - this.#sentAt >= REST_MS) this.#path = new Path();
    this.#sentAt = now;
    this.#streams.add(stream);
    this.#last = stream;
    this.#sentBytes += bytes;
  }

  /** A small frame leaves. It contends with bulk if another stream is in the middle of a transfer. */
  passed(stream: S): void {
    this.#streams.delete(stream);
    const last = this.#last;
    if (last !== null && this.#streams.has(last) && this.hasMore(last)) this.#contendedUntil = steadyNow() + CONTENDED_MS;
  }

  /** The stream sends nothing more. */
  release(stream: S): void {
    this.#streams.delete(stream);
    if (stream === this.#last) this.#last = null;
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
    const before = this.#answered;
    const path = this.#path;
    const cancel = this.ping((ms) => {
      const bytes = mark - before.bytes;
      const rttMs = Math.max(1, ms);
      path.answered(bytes, rttMs);
      this.#vouched.add(vouchedFor(bytes, rttMs, (before.first ??= { bytes, rttMs })));
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
    const now = steadyNow();
    if (now - this.#answered.at >= 1) this.#answered = { at: now, bytes: this.#answered.bytes };
    this.#answered.bytes = Math.max(this.#answered.bytes, mark);
    if (this.#patience.closed) return;
    this.stop();
    this.opened();
  }
}

/**
 * Returns the bulk that the line carries within {@link QUEUE_MS}, as far as one answer shows. Twice as much bulk may take hardly longer than
 * the first bulk sent with it. Most of its time is then the path's, and the line has room for more.
 */
function vouchedFor(bytes: number, rttMs: number, first: Required<Answered>['first']): number {
  const isRoomy = bytes >= 2 * first.bytes && SHORTER * rttMs <= first.rttMs;
  const queueMs = isRoomy ? 2 * Math.max(QUEUE_MS, first.rttMs) : QUEUE_MS;
  return bytes * Math.min(MOST_GROWTH, queueMs / rttMs);
}
