import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { completeGuarded } from './guard.js';
import { HookList } from './hook-list.js';

/**
 * A value that changes, as an Observable.
 *
 * In place of a BehaviorSubject: there, an observer that changes the value makes later observers receive the newer value before the older
 * one. Here all observers receive the values in order. A teardown that throws at the end does not hide the end from others. The Observable
 * is created on first use.
 */
export abstract class OrderedValue<T> {
  #now: T;
  #told: T;
  readonly #subscribers = new HookList<Subscriber<T>>();
  #value$: Observable<T> | null = null;
  #complete = false;
  /** Values not emitted yet, while an emission is under way: a subscriber may change the value. */
  #untold: T[] | null = null;

  /** @param name the public name of the Observable, for the log */
  constructor(
    initial: T,
    private readonly name: string,
  ) {
    this.#now = this.#told = initial;
  }

  get now(): T {
    return this.#now;
  }

  get value$(): Observable<T> {
    return (this.#value$ ??= new Observable((subscriber) => {
      // Add the subscriber first: it may change the value within `next`, and must receive that change too.
      subscriber.add(this.#subscribers.add(subscriber));
      subscriber.next(this.#told);
      if (this.#complete && this.#untold === null) subscriber.complete();
    }));
  }

  set(value: T): void {
    this.#now = value;
    this.changed(value);
    if (this.#untold !== null) this.#untold.push(value);
    else if (this.#subscribers.empty) this.#told = value;
    else this.#tell(value);
  }

  /** Called when the value is final. */
  complete(): void {
    this.#complete = true;
    if (this.#untold === null) this.#tellComplete();
  }

  /** Runs at each change, before the observers receive it. */
  protected abstract changed(value: T): void;

  /** All subscribers receive one value before any of them receives the next. */
  #tell(value: T): void {
    const untold = (this.#untold = [value]);
    for (const each of untold) {
      this.#told = each;
      for (const subscriber of this.#subscribers) subscriber.next(each);
    }
    this.#untold = null;
    if (this.#complete) this.#tellComplete();
  }

  #tellComplete(): void {
    for (const subscriber of this.#subscribers) completeGuarded(`a subscriber of ${this.name}`, subscriber);
  }
}
