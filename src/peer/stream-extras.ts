import { AsyncSubject, Observable } from 'rxjs';
import type { CloseCause } from '../session/close-cause.js';
import type { Metadata } from '../wire/frame.js';
import { HookList } from './hooks.js';
import type { Remove } from './hooks.js';
import type { StreamCore } from './stream-core.js';

/** What most streams never need: an AbortSignal, a promise of the end, the reply headers as an Observable. Made when asked for. */
export class StreamExtras {
  #abort: AbortController | null = null;
  #closed: Promise<CloseCause> | null = null;
  #headers: AsyncSubject<Readonly<Metadata>> | null = null;
  #headers$: Observable<Readonly<Metadata>> | null = null;
  readonly #watchers = new HookList<(cause: CloseCause) => void>();
  #warned = false;

  constructor(private readonly stream: StreamCore) {}

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.stream.cause !== null) this.#abort.abort(this.stream.error ?? undefined);
    return this.#abort.signal;
  }

  get closed(): Promise<CloseCause> {
    return (this.#closed ??= new Promise((resolve) => {
      if (this.stream.cause !== null) {
        resolve(this.stream.cause);
        return;
      }
      const remove = this.whenGone((cause) => {
        remove();
        resolve(cause);
      });
    }));
  }

  get replyHeaders$(): Observable<Readonly<Metadata>> {
    return (this.#headers$ ??= new Observable((subscriber) => {
      const headers = (this.#headers ??= new AsyncSubject());
      if (this.stream.replyHeaders !== null) this.headersArrived(this.stream.replyHeaders);
      else if (this.stream.cause !== null) headers.complete();
      return headers.subscribe(subscriber);
    }));
  }

  headersArrived(headers: Readonly<Metadata>): void {
    this.#headers?.next(headers);
    this.#headers?.complete();
  }

  /** Runs `task` when the stream is gone. */
  whenGone(task: (cause: CloseCause) => void): Remove {
    return this.#watchers.add(task);
  }

  gone(cause: CloseCause): void {
    for (const task of this.#watchers) task(cause);
    this.#headers?.complete();
    this.#abort?.abort(this.stream.error ?? undefined);
  }

  /** True once: the one warning of this stream is to be given now. */
  takeWarning(): boolean {
    const first = !this.#warned;
    this.#warned = true;
    return first;
  }
}
