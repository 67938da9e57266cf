import { Observable } from 'rxjs';
import type { Observer, OperatorFunction, Subscription, Unsubscribable } from 'rxjs';
import { LeanSubscription } from './subscribers.js';

/** The next subscriber of a pipeline. */
export interface Destination extends Subscription {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

/**
 * The subscriber between a source and the next subscriber. It ends with the next one, so a source that emits within `subscribe` sees at
 * once, by `closed`, that it may stop.
 *
 * In place of the subscribers of rxjs's `map` and `filter`: a pipeline has one for each step. rxjs treats an observer that is also a
 * Subscription as a Subscriber, and adds no SafeSubscriber. Its `isSubscriber` in Observable.ts checks only the shape.
 */
export abstract class Relay<T> extends LeanSubscription implements Observer<T> {
  /**
   * Whether the end has reached the next subscriber. It has not where that subscriber left before. Set before it receives the end: a value
   * that the source emits during that comes too late.
   */
  protected hasEnded = false;

  constructor(protected readonly to: Destination) {
    super();
    to.add(this);
  }

  /** Marks the end for a subclass that delivers it in its own way. Returns `false` if there is nothing to deliver. */
  protected stop(): boolean {
    if (this.closed || this.hasEnded) return false;
    return (this.hasEnded = true);
  }

  /** Takes one value. An error that it throws is the error of the pipeline. */
  protected abstract take(value: T): void;

  next(value: T): void {
    if (this.closed || this.hasEnded) return;
    try {
      this.take(value);
    } catch (error) {
      this.error(error);
    }
  }

  error(error: unknown): void {
    if (!this.stop()) return;
    this.to.error(error);
    this.unsubscribe();
  }

  complete(): void {
    if (!this.stop()) return;
    this.to.complete();
    this.unsubscribe();
  }
}

/** Receives the values and the error of a {@link HandledRelay}. */
export interface RelayOwner<T> {
  received(value: T): void;
  /** An error that this throws ends the next subscriber. */
  failed(error: unknown, relay: HandledRelay<T>): void;
}

/** A relay of one source among others: its owner decides what its values and its error mean. */
export class HandledRelay<T> extends Relay<T> {
  constructor(
    to: Destination,
    private readonly owner: RelayOwner<T>,
  ) {
    super(to);
  }

  protected take(value: T): void {
    this.owner.received(value);
  }

  override error(error: unknown): void {
    if (!this.stop()) return;
    try {
      this.owner.failed(error, this);
    } catch (failure) {
      this.to.error(failure);
    }
    this.unsubscribe();
  }
}

type Project<T, R, O> = (this: O, value: T) => R | null;

/** The projects of some steps, and the owner of each. */
interface StepList {
  readonly projects: readonly Project<unknown, unknown, unknown>[];
  readonly owners: readonly unknown[];
}

/**
 * `map` that drops results of `null`.
 *
 * In place of rxjs's `map` and `filter`: several steps in a row become one Observable. So a frame passes one subscriber for all steps,
 * and a connection keeps one. A method of an `owner` needs no closure for each connection.
 */
export function mapPresent<T, R>(project: Project<T, R, void>): OperatorFunction<T, R>;
export function mapPresent<T, R, O>(project: Project<T, R, O>, owner: O): OperatorFunction<T, R>;
export function mapPresent<T, R>(project: Project<T, R, unknown>, owner?: unknown): OperatorFunction<T, R> {
  return (source) => {
    const { origin, projects, owners } = stepsOf(source);
    return new Mapped<R>(origin, projects.concat(project as Project<unknown, unknown, unknown>), owners.concat(owner));
  };
}

const NO_STEPS: StepList = { projects: [], owners: [] };

/** Returns the first source of a pipeline, and its steps. */
function stepsOf(source: Observable<unknown>): StepList & { readonly origin: Observable<unknown> } {
  return source instanceof Mapped ? source : { origin: source, ...NO_STEPS };
}

/** Emits the values of `origin` after each of `projects`; the last returns an `R`. */
class Mapped<R> extends Observable<R> implements StepList {
  constructor(
    readonly origin: Observable<unknown>,
    readonly projects: StepList['projects'],
    readonly owners: StepList['owners'],
  ) {
    super((subscriber) => origin.subscribe(new Steps(this, subscriber)));
  }
}

class Steps extends Relay<unknown> {
  constructor(
    private readonly steps: StepList,
    to: Destination,
  ) {
    super(to);
  }

  protected take(value: unknown): void {
    const result = passed(this.steps, value);
    if (result !== null) this.to.next(result);
  }
}

/** Returns what the steps make of a value; `null` if one of them dropped it. */
function passed({ projects, owners }: StepList, value: unknown): unknown {
  let result = value;
  let index = 0;
  for (const project of projects) {
    result = project.call(owners[index++], result);
    if (result === null) break;
  }
  return result;
}

/** Receives the errors and the end of a pipeline. */
export interface PipelineHost {
  /** A step threw this error for a value, or the source failed with it. */
  failed(error: unknown): void;
  /** The source has completed, if it ever does. */
  completed?(): void;
}

/**
 * Subscribes to a pipeline of {@link mapPresent} steps, and keeps the subscription when a step throws: a bad frame does not stop later frames.
 *
 * In place of `catchError((_, caught) => caught)`, which keeps all operators of every idle connection just to subscribe again.
 */
export function run(pipeline: Observable<unknown>, host: PipelineHost): Unsubscribable {
  const { origin, projects, owners } = stepsOf(pipeline);
  const running = new Run(projects, owners, host);
  origin.subscribe(running);
  return running;
}

/**
 * The subscriber of one pipeline.
 *
 * In place of rxjs's SafeSubscriber, with an observer and a list of teardowns of its own: 290 bytes of each pipeline.
 */
class Run extends LeanSubscription implements Observer<unknown>, StepList {
  constructor(
    readonly projects: StepList['projects'],
    readonly owners: StepList['owners'],
    private readonly host: PipelineHost,
  ) {
    super();
  }

  next(value: unknown): void {
    if (this.closed) return;
    try {
      passed(this, value);
    } catch (error) {
      this.host.failed(error);
    }
  }

  error(error: unknown): void {
    if (this.closed) return;
    this.unsubscribe();
    this.host.failed(error);
  }

  complete(): void {
    if (this.closed) return;
    this.unsubscribe();
    this.host.completed?.();
  }
}

/**
 * Emits the values of `first` and of `second`, subscribed in this order. Completes after both.
 *
 * In place of `merge`, which also takes promises, iterables and a limit of concurrent sources: 1 KB of a page.
 */
export function both<T>(first: Observable<T>, second: Observable<T>): Observable<T> {
  return new Observable((subscriber) => {
    const sources = [first, second];
    const running = new Set(sources);
    for (const source of sources) if (!subscriber.closed) source.subscribe(new OneOfBoth(subscriber, source, running));
  });
}

class OneOfBoth<T> extends Relay<T> {
  constructor(
    to: Destination,
    private readonly source: Observable<T>,
    private readonly running: Set<Observable<T>>,
  ) {
    super(to);
  }

  protected take(value: T): void {
    this.to.next(value);
  }

  override complete(): void {
    if (!this.stop()) return;
    // As with `merge`, this source is released before the subscriber completes.
    this.unsubscribe();
    this.running.delete(this.source);
    if (this.running.size === 0) this.to.complete();
  }
}
