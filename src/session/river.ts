import type { Observable, Observer, Subscription, Unsubscribable } from 'rxjs';

/**
 * A pipeline that flows on behind what breaks in it: that is handled, and the pipeline is made anew. So it need not be kept as
 * it was made, as it would be for `catchError`.
 */
export class River implements Observer<unknown>, Unsubscribable {
  #flow: Subscription | null = null;
  #broken = false;
  #stopped = false;

  /**
   * @param made the pipeline, whose values concern nobody
   * @param failed gets what breaks in it
   * @param ended called when its source completes, where it ever does
   */
  constructor(
    private readonly made: () => Observable<unknown>,
    private readonly failed: (error: unknown) => void,
    private readonly ended?: () => void,
  ) {}

  start(): void {
    do {
      this.#broken = false;
      this.#flow = null;
      const flow = this.made().subscribe(this);
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
    this.failed(error);
    const flow = this.#flow;
    // What breaks while it is being subscribed to is started again where that is done.
    if (flow === null) this.#broken = true;
    else if (!this.#stopped) {
      flow.unsubscribe();
      this.start();
    }
  }

  complete(): void {
    this.ended?.();
  }
}
