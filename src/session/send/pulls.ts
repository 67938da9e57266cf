import { Waiters } from '../base/waiters.js';
import type { Backlog } from './backlog.js';
import type { Bulk } from './bulk.js';
import type { Scheduler } from '../../connection/outbound.js';

/** The parts of a scheduler that its pulls use. */
export interface PullHost {
  readonly backlog: Backlog;
  /** How many frames the scheduler has accepted so far. */
  readonly accepted: number;
  /** Whether a pulled frame leaves at once, within this turn's share of the event loop. */
  readonly hasTurn: boolean;
  readonly bulk: Pick<Bulk, 'holds'>;
  /** Writes queued frames while the pace allows, then pulls more. */
  pump(): void;
}

/**
 * The most streams in a row that {@link Pulls.many} asks without an answer. An async source answers some microtasks later, and is then asked
 * again. Few such sources use up the share of a turn. The values of more sources would have to wait for the next turn.
 */
const MOST_UNANSWERED = 16;

/** Returns the pulls of a scheduler, made on first use. */
export function pullsOf(scheduler: Scheduler): Pulls {
  return (scheduler.backlog.pulls ??= new Pulls(scheduler));
}

/** Asks streams that wait until the socket takes more for their next frame. Waiting streams take turns. */
export class Pulls extends Waiters {
  /** The stream that was pulled last; -1, which is no stream, at first. */
  pulled = -1;
  #isPulling = false;
  /** A pulled stream may send exactly one frame now, until the scheduler has accepted one more than this; `null` for none. */
  #grantedAt: number | null = null;

  constructor(private readonly host: PullHost) {
    super();
  }

  /** Whether any stream waits, and may be pulled. */
  get any(): boolean {
    return this.size > 0 && this.host.backlog.share?.mustWait() !== true;
  }

  /** Whether {@link many} runs. */
  get isPulling(): boolean {
    return this.#isPulling;
  }

  /** Returns whether to pull a frame from a stream now. The frame leaves at once within this turn's share, or the stream has its turn. */
  hasDemand(stream: number): boolean {
    const { host } = this;
    if (this.#grantedAt !== host.accepted && (!host.hasTurn || host.bulk.holds(stream))) return false;
    this.pulled = stream;
    return true;
  }

  /** Runs `task` once {@link hasDemand} holds. Waiting streams take turns. */
  whenDemand(stream: number, task: () => void): void {
    this.add(stream, task);
    this.host.pump();
  }

  /** Pulls after a queued frame has left, so pulled streams and queues take turns. A stream is pulled again after its last frame has left. */
  after(stream: number): void {
    if (this.any) this.#granting(() => (this.#mayPull(stream) ? this.run(stream) : this.#next()));
  }

  /** Pulls one frame ahead of the queues. Returns `false` if no stream may send. */
  one(): boolean {
    return this.#granting(() => this.#next());
  }

  /** Pulls streams while there is a turn, and until enough of them have not answered at once. Returns `false` once no stream may send. */
  many(): boolean {
    const { host } = this;
    let unanswered = 0;
    let isAnyAsked = true;
    this.#isPulling = true;
    try {
      while (isAnyAsked && unanswered < MOST_UNANSWERED && host.hasTurn) {
        const { accepted } = host;
        isAnyAsked = this.#next();
        unanswered = host.accepted === accepted ? unanswered + 1 : 0;
      }
    } finally {
      this.#isPulling = false;
    }
    return isAnyAsked;
  }

  /** Pulls the stream that has waited longest, of those whose frame may leave. Returns `false` if there is none. */
  #next(): boolean {
    if (this.any)
      for (const stream of this.keys()) {
        if (!this.#mayPull(stream)) continue;
        this.run(stream);
        return true;
      }
    return false;
  }

  #mayPull(stream: number): boolean {
    const { host } = this;
    return !host.backlog.queues.has(stream) && !host.bulk.holds(stream);
  }

  #granting<T>(ask: () => T): T {
    this.#grantedAt = this.host.accepted;
    try {
      return ask();
    } finally {
      this.#grantedAt = null;
    }
  }
}
