import { Subscription, asyncScheduler } from 'rxjs';
import { LazyMap } from '../util/collections.js';
import { LONGEST_TIMER_MS, steadyNow } from '../util/time.js';

/** How often the last call clears the timer. Afterwards the timer stays. */
const TIMER_CLEARS = 100;

/** An item with a deadline. */
export interface Deadlined {
  /** The deadline has passed. */
  expire(timeoutMs: number): void;
}

/** The deadline of one item. */
export interface Deadline {
  readonly item: Deadlined;
  readonly at: number;
  readonly queue: DeadlineQueue;
}

/** The deadlines of one time-out, with one timer for all. They expire in the order in which they were added. */
class DeadlineQueue {
  readonly deadlines = new Set<Deadline>();
  #timer = Subscription.EMPTY;

  constructor(
    readonly timeoutMs: number,
    private readonly owner: Pick<Deadlines, 'due'>,
  ) {}

  add(item: Deadlined): Deadline {
    const deadline = { item, at: steadyNow() + this.timeoutMs, queue: this };
    this.deadlines.add(deadline);
    if (this.#timer.closed) this.#arm(this.timeoutMs);
    return deadline;
  }

  /** Expires the items whose time is over, and sets the timer for the next one. */
  expire(): void {
    const now = steadyNow();
    for (const deadline of this.deadlines) {
      if (deadline.at > now) {
        this.#arm(deadline.at - now);
        return;
      }
      this.deadlines.delete(deadline);
      deadline.item.expire(this.timeoutMs);
    }
  }

  /** Clears the timer. */
  disarm(): void {
    this.#timer.unsubscribe();
  }

  #arm(restMs: number): void {
    this.#timer = asyncScheduler.schedule(
      () => {
        this.owner.due(this);
      },
      Math.min(LONGEST_TIMER_MS, restMs),
    );
  }
}

/**
 * The deadlines of one peer's calls, with one timer for each time-out. Calls of the same time-out expire in the order in which they began.
 *
 * The last call clears the timer. Setting and clearing a timer costs a tenth of a single call, and a following call needs the timer again.
 * So after many such calls the timer stays, until it is due or the peer ends.
 */
export class Deadlines {
  /** Queues that are not empty, or have a timer that stays, by time-out in ms. An empty Map would take some 200 bytes. */
  #queues: Map<number, DeadlineQueue> | null = null;
  #clears = 0;
  #closed = false;

  /**
   * Sets a deadline `timeoutMs` from now. The caller has to {@link cancel} it.
   *
   * @returns the deadline, or `null` for 0 and `Infinity`, which mean no deadline
   */
  add(item: Deadlined, timeoutMs: number): Deadline | null {
    if (timeoutMs <= 0 || timeoutMs === Infinity) return null;
    let queue = this.#queues?.get(timeoutMs);
    if (queue === undefined) {
      queue = new DeadlineQueue(timeoutMs, this);
      (this.#queues ??= new Map<number, DeadlineQueue>()).set(timeoutMs, queue);
    }
    return queue.add(item);
  }

  /** Cancels a deadline, if it has not expired. */
  cancel(deadline: Deadline): void {
    const { queue } = deadline;
    queue.deadlines.delete(deadline);
    // After its expiry its queue may be removed, and another queue may have replaced it.
    if (queue.deadlines.size > 0 || this.#queues?.get(queue.timeoutMs) !== queue) return;
    if (this.#closed || this.#queues.size > 1 || ++this.#clears <= TIMER_CLEARS) this.#remove(queue);
  }

  /** The peer has ended. From now on no timer stays. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#queues?.values() ?? []) if (queue.deadlines.size === 0) this.#remove(queue);
  }

  #remove(queue: DeadlineQueue): void {
    this.#queues?.delete(queue.timeoutMs);
    if (this.#queues?.size === 0) this.#queues = null;
    queue.disarm();
  }

  /** The timer of a queue is due. */
  due(queue: DeadlineQueue): void {
    if (queue.deadlines.size === 0) this.#clears = 0;
    queue.expire();
    if (queue.deadlines.size === 0 && this.#queues?.get(queue.timeoutMs) === queue) this.#remove(queue);
  }
}

/** A call that its caller's signal cancels. */
export interface Abortable {
  /** The signal has aborted. */
  aborted(reason: unknown): void;
}

/** The calls of one signal, and its listener. */
interface SharedSignal {
  readonly calls: Set<Abortable>;
  readonly onAbort: () => void;
}

/**
 * The callers' signals of one peer. Each signal has one listener, however many calls share the signal. A signal scans all its listeners to add
 * or remove one, and Node warns of a leak beyond ten.
 */
export class AbortSignals {
  readonly #signals = new LazyMap<AbortSignal, SharedSignal>();

  /** Calls `call.aborted` when `signal` aborts, unless the call is {@link remove removed} before. Keeps the order of the calls. */
  add(signal: AbortSignal, call: Abortable): void {
    let shared = this.#signals.get(signal);
    if (shared === undefined) {
      const calls = new Set<Abortable>();
      const onAbort = (): void => {
        for (const each of calls) each.aborted(signal.reason);
      };
      signal.addEventListener('abort', onAbort);
      shared = { calls, onAbort };
      this.#signals.set(signal, shared);
    }
    shared.calls.add(call);
  }

  remove(signal: AbortSignal, call: Abortable): void {
    const shared = this.#signals.get(signal);
    shared?.calls.delete(call);
    if (shared?.calls.size !== 0) return;
    signal.removeEventListener('abort', shared.onAbort);
    this.#signals.delete(signal);
  }
}
