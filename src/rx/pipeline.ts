import { Subscription } from 'rxjs';
import type { Observable, Observer, TeardownLogic, Unsubscribable } from 'rxjs';

/** The parts of a pipeline, and what its end means. */
export interface PipelineHost {
  /** Makes the pipeline. No code uses the values that it emits. */
  make(): Observable<unknown>;
  /** Receives the error of a pipeline. The next pipeline is ready then. */
  failed(error: unknown): void;
  /** The source has completed, if it ever does. */
  completed?(): void;
}

/**
 * Subscribes to a pipeline. When the pipeline fails, reports the error and subscribes to a new one: a bad frame does not stop later frames.
 *
 * In place of `catchError((_, caught) => caught)`, which keeps all operators of every idle connection just to subscribe again.
 */
export class RestartingPipeline implements Unsubscribable {
  /** The current run; `null` during its subscription. */
  #run: Run | null = null;
  #stopped = false;

  constructor(private readonly host: PipelineHost) {}

  start(): void {
    let run: Run;
    do {
      this.#run = null;
      run = new Run(this);
      this.host.make().subscribe(run);
      if (this.#stopped) run.unsubscribe();
      else this.#run = run;
    } while (run.hasFailed && !this.#stopped);
  }

  unsubscribe(): void {
    this.#stopped = true;
    this.#run?.unsubscribe();
  }

  /** A run has failed. `start` subscribes again if it failed during its subscription. */
  failed(error: unknown): void {
    if (this.#run !== null) this.start();
    this.host.failed(error);
  }

  completed(): void {
    this.host.completed?.();
  }
}

/**
 * The last subscriber of one pipeline.
 *
 * In place of rxjs's SafeSubscriber, with an observer and a list of teardowns of its own: 290 bytes of each pipeline.
 */
class Run extends Subscription implements Observer<unknown> {
  hasFailed = false;
  /** The first teardown. A pipeline seldom has another. */
  #source: TeardownLogic = undefined;

  constructor(private readonly pipeline: Pick<RestartingPipeline, 'completed' | 'failed'>) {
    super();
  }

  // The last operator adds itself, and `subscribe` adds it again.
  override add(teardown: TeardownLogic): void {
    if (teardown === this.#source) return;
    if (this.#source === undefined && !this.closed) this.#source = teardown;
    else super.add(teardown);
  }

  override unsubscribe(): void {
    const source = this.#source;
    this.#source = undefined;
    super.add(source);
    super.unsubscribe();
  }

  next(): void {
    // The last operator of the pipeline has used the value.
  }

  error(error: unknown): void {
    if (this.closed) return;
    this.hasFailed = true;
    this.unsubscribe();
    this.pipeline.failed(error);
  }

  complete(): void {
    if (this.closed) return;
    this.unsubscribe();
    this.pipeline.completed();
  }
}
