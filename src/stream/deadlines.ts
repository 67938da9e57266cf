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

/** The deadline of one item, linked between the previous and the next deadline of the same time-out. */
export class Deadline {
  #earlier: Deadline = this;
  #later: Deadline = this;

  constructor(
    readonly item: Deadlined,
    readonly at: number,
    readonly queue: DeadlineQueue,
  ) {}

  get later(): Deadline {
    return this.#later;
  }

  /** Inserts this deadline before `next`. Before the sentinel means at the end of the queue. */
  insertBefore(next: Deadline): void {
    this.#earlier = next.#earlier;
    this.#later = next;
    next.#earlier.#later = next.#earlier = this;
  }

  /** Removes this deadline from its list, if it is still in. Afterwards it references no other deadline. */
  unlink(): void {
    this.#earlier.#later = this.#later;
    this.#later.#earlier = this.#earlier;
    this.#earlier = this.#later = this;
  }
}

/**
 * The deadlines of one time-out, in the order of their expiry, with one timer for all. A circular doubly linked list with a sentinel, so that
 * insertion and removal are O(1).
 */
class DeadlineQueue {
  /** Its item is never used: it never expires. */
  readonly #sentinel = new Deadline(this, Infinity, this);
  #timer = Subscription.EMPTY;

  constructor(
    readonly timeoutMs: number,
    private readonly owner: Pick<Deadlines, 'due'>,
  ) {}

  get empty(): boolean {
    return this.#sentinel.later === this.#sentinel;
  }

  add(item: Deadlined): Deadline {
    const now = steadyNow();
    const deadline = new Deadline(item, now + this.timeoutMs, this);
    deadline.insertBefore(this.#sentinel);
    if (this.#timer.closed) this.#arm(now);
    return deadline;
  }

  /** Expires the items whose time is over, and sets the timer for the next one. */
  expire(): void {
    const now = steadyNow();
    // The sentinel comes last, and never expires.
    for (let first = this.#sentinel.later; first.at <= now; first = this.#sentinel.later) {
      first.unlink();
      first.item.expire(this.timeoutMs);
    }
    if (!this.empty) this.#arm(now);
  }

  /** Clears the timer. */
  disarm(): void {
    this.#timer.unsubscribe();
  }

  #arm(now: number): void {
    this.#timer.unsubscribe();
    const rest = Math.min(LONGEST_TIMER_MS, Math.max(0, this.#sentinel.later.at - now));
    this.#timer = asyncScheduler.schedule(() => {
      this.owner.due(this);
    }, rest);
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
    deadline.unlink();
    // After its expiry its queue may be removed, and another queue may have replaced it.
    if (!queue.empty || this.#queues?.get(queue.timeoutMs) !== queue) return;
    if (this.#closed || this.#queues.size > 1 || ++this.#clears <= TIMER_CLEARS) this.#remove(queue);
  }

  /** The peer has ended. From now on no timer stays. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#queues?.values() ?? []) if (queue.empty) this.#remove(queue);
  }

  #remove(queue: DeadlineQueue): void {
    this.#queues?.delete(queue.timeoutMs);
    if (this.#queues?.size === 0) this.#queues = null;
    queue.disarm();
  }

  /** The timer of a queue is due. */
  due(queue: DeadlineQueue): void {
    if (queue.empty) this.#clears = 0;
    queue.expire();
    if (queue.empty && this.#queues?.get(queue.timeoutMs) === queue) this.#remove(queue);
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
