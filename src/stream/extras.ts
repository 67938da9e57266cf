import type { StreamCore } from './stream-core.js';
import type { CloseCause } from './end.js';
import { HookList } from '../rx/values.js';
import type { Subscriber } from 'rxjs';
import type { Metadata } from '../wire/frame.js';
import { Observable } from 'rxjs';
import type { TrailersInput } from './sending.js';
import { guard, completeGuarded } from '../rx/subscribers.js';

/** Returns the extras of a stream, made on first use. */
export function extrasOf(stream: StreamCore): StreamExtras {
  return (stream.extras ??= new StreamExtras(stream));
}

/** Parts that most streams never need: an AbortSignal, a promise of the end, the reply headers as an Observable. Created on access. */
export class StreamExtras {
  #abort: AbortController | null = null;
  #closed: Promise<CloseCause> | null = null;
  readonly #awaitingHeaders = new HookList<Subscriber<Readonly<Metadata>>>();
  #headers$: Observable<Readonly<Metadata>> | null = null;
  readonly #watchers = new HookList<(cause: CloseCause) => void>();
  #warned = false;
  /** The trailers of this side's end, set ahead of it. */
  trailers: TrailersInput | null = null;
  /**
   * State of the reply-headers interceptors. `done`: they ran in a `sendHeaders` that had nothing to send. They do not run again for a value
   * without headers.
   */
  interceptors: 'due' | 'running' | 'done' | 'failed' = 'due';

  constructor(private readonly stream: StreamCore) {}

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.stream.cause !== null) this.#abort.abort(this.stream.failure ?? undefined);
    return this.#abort.signal;
  }

  get closed(): Promise<CloseCause> {
    return (this.#closed ??= new Promise((resolve) => {
      if (this.stream.cause === null) this.whenGone(resolve);
      else resolve(this.stream.cause);
    }));
  }

  get replyHeaders$(): Observable<Readonly<Metadata>> {
    return (this.#headers$ ??= new Observable((subscriber) => {
      const { replyHeaders, cause } = this.stream;
      if (replyHeaders === null && cause === null) subscriber.add(this.#awaitingHeaders.add(subscriber));
      else tellHeaders(subscriber, replyHeaders);
    }));
  }

  headersArrived(headers: Readonly<Metadata>): void {
    for (const { hook: subscriber } of this.#awaitingHeaders.entries) tellHeaders(subscriber, headers);
  }

  /** Runs `task` once, when the stream has ended. Returns a function that cancels it. */
  whenGone(task: (cause: CloseCause) => void): () => void {
    const remove = this.#watchers.add((cause) => {
      remove();
      task(cause);
    });
    return remove;
  }

  gone(cause: CloseCause): void {
    // Each task may run a teardown of the user.
    for (const { hook: task } of this.#watchers.entries)
      guard('a subscriber of a stream', () => {
        task(cause);
      });
    for (const { hook: subscriber } of this.#awaitingHeaders.entries) tellHeaders(subscriber, null);
    this.#abort?.abort(this.stream.failure ?? undefined);
  }

  /** Returns `true` once, for the one warning of this stream. */
  takeWarning(): boolean {
    const first = !this.#warned;
    this.#warned = true;
    return first;
  }
}

function tellHeaders(subscriber: Subscriber<Readonly<Metadata>>, headers: Readonly<Metadata> | null): void {
  if (headers !== null) subscriber.next(headers);
  completeGuarded('a subscriber of replyHeaders$', subscriber);
}
