import type { Observable, Observer, Subscription, Unsubscribable } from 'rxjs';

/**
 * Subscribes to a pipeline; when that errors, reports the error and subscribes to a new one, so that a bad frame does not stop those
 * after it. Not `catchError((_, caught) => caught)`: that keeps all operators of every idle connection only to subscribe again.
 */
export class RestartingPipeline implements Observer<unknown>, Unsubscribable {
  #flow: Subscription | null = null;
  #broken = false;
  #stopped = false;

  /**
   * @param make makes the pipeline, whose values concern nobody
   * @param onError gets what the pipeline errors with, once the next is made: it may use that
   * @param onComplete called when the source completes, where it ever does
   */
  constructor(
    private readonly make: () => Observable<unknown>,
    private readonly onError: (error: unknown) => void,
    private readonly onComplete?: () => void,
  ) {}

  start(): void {
    do {
      this.#broken = false;
      this.#flow = null;
      const flow = this.make().subscribe(this);
      if (this.#stopped) flow.unsubscribe();
      else this.#flow = flow;
    } while (this.#broken && !this.#stopped);
  }

  unsubscribe(): void {
    this.#stopped = true;
    this.#flow?.unsubscribe();
  }

  next(): void {
    // The last operator of a pipeline has used it.
  }

  error(error: unknown): void {
    const flow = this.#flow;
    // A pipeline that breaks during its subscription is started again by `start`.
    if (flow === null) this.#broken = true;
    else {
      flow.unsubscribe();
      this.start();
    }
    this.onError(error);
  }

  complete(): void {
    this.onComplete?.();
  }
}
