import { Subscription } from 'rxjs';
import { Fifo } from '../util/collections.js';
import { failing } from './promises.js';
import { UnreadQueue } from './receiving.js';
import type { StreamCore } from './stream-core.js';

/** A consumer that waits for the next value. */
export interface Pull<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

/** An ended stream lives only in its iterator. If a half-read iterator is collected, release its unread bytes. */
const dropped =
  typeof FinalizationRegistry === 'function'
    ? new FinalizationRegistry((unasked: UnreadQueue<unknown>) => {
        unasked.clear();
      })
    : null;

/** An async iterator that also passes its values without a promise. */
export abstract class PulledIterator<T> implements AsyncIterator<T, undefined> {
  /** {@link next} without a promise: a waiting value resolves the pull at once. */
  abstract pull(pull: Pull<T>): void;
  abstract return(): Promise<IteratorReturnResult<undefined>>;

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve) => {
      this.pull({
        resolve,
        reject: (error) => {
          resolve(failing(error));
        },
      });
    });
  }

  stop(): unknown {
    return this.return();
  }
}

/** Reads a stream by pulling. Values that were not pulled yet count as unread, so a slow loop pauses the socket. */
export class StreamIterator<T> extends PulledIterator<T> {
  /** Values that no pull has taken yet. */
  readonly #unasked: UnreadQueue<T>;
  readonly #pulls = new Fifo<Pull<T>>();
  #subscription: Subscription | null = null;
  #end: { readonly error: unknown } | null = null;

  constructor(private readonly stream: StreamCore) {
    super();
    this.#unasked = new UnreadQueue(stream);
  }

  /** Whether the stream has a reader and may still receive payloads. */
  get isShared(): boolean {
    return !this.stream.isOver && this.stream.hasReader;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  pull(pull: Pull<T>): void {
    this.#subscribe();
    const unasked = this.#unasked.shift();
    if (unasked !== undefined) pull.resolve({ done: false, value: unasked.value });
    else if (this.#end === null) this.#pulls.push(pull);
    else {
      const { error } = this.#end;
      this.#end = { error: null };
      settle(pull, error);
    }
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    // Subscribe first, if no pull has: leaving must count as the last unsubscribe.
    this.#subscribe();
    this.#unasked.clear();
    this.#finish(null);
    this.#subscription?.unsubscribe();
    return Promise.resolve({ done: true, value: undefined });
  }

  throw(error: unknown): Promise<never> {
    return this.return().then(() => {
      throw error;
    });
  }

  #subscribe(): void {
    if (this.#subscription !== null) return;
    this.#subscription = new Subscription();
    this.#subscription.add(
      this.stream.facade.subscribe({
        next: (value) => {
          this.#deliver(value as T);
        },
        error: (error: unknown) => {
          this.#finish(error);
        },
        complete: () => {
          this.#finish(null);
        },
      }),
    );
  }

  #deliver(value: T): void {
    const pull = this.#pulls.shift();
    if (pull === undefined) this.#unasked.add(value, this.stream.ownReceiving.deliveredBytes);
    else pull.resolve({ done: false, value });
  }

  #finish(error: unknown): void {
    if (this.#unasked.length > 0) {
      this.stream.ownReceiving.handOver();
      dropped?.register(this, this.#unasked);
    }
    const pull = this.#pulls.shift();
    this.#end = { error: pull === undefined ? error : null };
    if (pull === undefined) return;
    settle(pull, error);
    for (let other = this.#pulls.shift(); other !== undefined; other = this.#pulls.shift()) settle(other, null);
  }
}

function settle<T>(pull: Pull<T>, error: unknown): void {
  if (error === null) pull.resolve({ done: true, value: undefined });
  else pull.reject(error);
}
