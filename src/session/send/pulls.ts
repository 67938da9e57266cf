import type { Backlog } from './backlog.js';
import type { BulkPacing } from './bulk-pacing.js';

/**
 * The most streams in a row that {@link Pulls.many} asks without an answer. An async source answers some microtasks later, and is then asked
 * again. Few such sources use up the share of a turn. The values of more sources would have to wait for the next turn.
 */
const MOST_UNANSWERED = 16;

/** Asks streams that wait until the socket takes more for their next frame. Waiting streams take turns. */
export class Pulls {
  #isPulling = false;
  /** A pulled stream may send exactly one frame now. */
  #isGranted = false;
  /** How many streams in a row were asked without an answer. */
  #unanswered = 0;

  constructor(
    private readonly backlog: Backlog,
    private readonly bulk: Pick<BulkPacing, 'holds'>,
  ) {}

  /** Whether {@link many} runs. */
  get isPulling(): boolean {
    return this.#isPulling;
  }

  /** Whether a pulled stream may send exactly one frame now. */
  get isGranted(): boolean {
    return this.#isGranted;
  }

  /** A frame was queued, so the grant is used. */
  use(): void {
    this.#isGranted = false;
    this.#unanswered = 0;
  }

  /** Pulls after a queued frame has left, so pulled streams and queues take turns. A stream is pulled again after its last frame has left. */
  after(stream: number): void {
    const { backlog } = this;
    if (backlog.pulled) this.#granting(() => (backlog.queues.has(stream) || this.bulk.holds(stream) ? this.#next() : backlog.pull(stream)));
  }

  /** Pulls one frame ahead of the queues. Returns `false` if no stream may send. */
  one(): boolean {
    return this.#granting(() => this.#next());
  }

  /** Pulls streams while `hasTurn`, and until enough of them have not answered at once. Returns `false` once no stream may send. */
  many(hasTurn: () => boolean): boolean {
    this.#isPulling = true;
    this.#unanswered = 0;
    let isAnyAsked = true;
    try {
      while (isAnyAsked && this.#unanswered < MOST_UNANSWERED && hasTurn()) {
        this.#unanswered++;
        isAnyAsked = this.#next();
      }
    } finally {
      this.#isPulling = false;
    }
    return isAnyAsked;
  }

  /** Pulls the next stream whose frame may leave; returns `false` if there is none. */
  #next(): boolean {
    return this.backlog.pullNext((stream) => !this.bulk.holds(stream));
  }

  #granting(ask: () => boolean): boolean {
    this.#isGranted = true;
    try {
      return ask();
    } finally {
      this.#isGranted = false;
    }
  }
}
