import type { Observable, Observer, Subscription, Unsubscribable } from 'rxjs';

/**
 * Subscribes to a pipeline. When the pipeline fails, reports the error and subscribes to a new one: a bad frame does not stop later frames.
 *
 * In place of `catchError((_, caught) => caught)`, which keeps all operators of every idle connection just to subscribe again.
 */
export class RestartingPipeline implements Observer<unknown>, Unsubscribable {
  #flow: Subscription | null = null;
  #broken = false;
  #stopped = false;

  /**
   * @param make makes the pipeline. No code uses the values that it emits.
   * @param onError receives the error of a pipeline. The next pipeline is ready then.
   * @param onComplete called when the source completes, if it ever does.
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
    // The last operator of the pipeline has used the value.
  }

  error(error: unknown): void {
    const flow = this.#flow;
    // `start` subscribes again if a pipeline fails during its subscription.
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
