import type { Observable, Observer, Subscription, Unsubscribable } from 'rxjs';

/**
 * A pipeline that flows on behind what breaks in it: that is handled, and the pipeline is made anew. So it need not be kept as
 * it was made, as it would be for `catchError`.
 */
export class RestartingPipeline implements Observer<unknown>, Unsubscribable {
  #flow: Subscription | null = null;
  #broken = false;
  #stopped = false;

  /**
   * @param make the pipeline, whose values concern nobody
   * @param onError gets what breaks in it
   * @param onComplete called when its source completes, where it ever does
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
    this.onError(error);
    const flow = this.#flow;
    // What breaks while it is being subscribed to is started again where that is done.
    if (flow === null) this.#broken = true;
    else if (!this.#stopped) {
      flow.unsubscribe();
      this.start();
    }
  }

  complete(): void {
    this.onComplete?.();
  }
}
