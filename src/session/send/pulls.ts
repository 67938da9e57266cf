import type { Backlog } from './backlog.js';
import type { BulkPacing } from './bulk-pacing.js';

/** Asks streams that wait until the socket takes more for their next frame. Waiting streams take turns. */
export class Pulls {
  #isPulling = false;
  /** A pulled stream may send exactly one frame now. */
  #isGranted = false;

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

  /** Pulls streams while `hasTurn`. Returns `false` once no stream may send. */
  many(hasTurn: () => boolean): boolean {
    this.#isPulling = true;
    let isAnyAsked = true;
    try {
      while (isAnyAsked && hasTurn()) isAnyAsked = this.#next();
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
