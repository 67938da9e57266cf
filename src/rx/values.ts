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
  #emitted: T;
  readonly #subscribers = new HookList<Subscriber<T>>();
  #value$: Observable<T> | null = null;
  #complete = false;
  /** Values not emitted yet, while an emission is under way: a subscriber may change the value. */
  #waiting: T[] | null = null;

  /** @param name the public name of the Observable, for the log */
  constructor(
    initial: T,
    private readonly name: string,
  ) {
    this.#now = this.#emitted = initial;
  }

  get now(): T {
    return this.#now;
  }

  get value$(): Observable<T> {
    return (this.#value$ ??= new Observable((subscriber) => {
      // Add the subscriber first: it may change the value within `next`, and must receive that change too.
      subscriber.add(this.#subscribers.add(subscriber));
      subscriber.next(this.#emitted);
      if (this.#complete && this.#waiting === null) subscriber.complete();
    }));
  }

  set(value: T): void {
    this.#now = value;
    this.changed(value);
    if (this.#waiting !== null) this.#waiting.push(value);
    else if (this.#subscribers.entries.length === 0) this.#emitted = value;
    else this.#emit(value);
  }

  /** Called when the value is final. */
  complete(): void {
    this.#complete = true;
    if (this.#waiting === null) this.#emitComplete();
  }

  /** Runs at each change, before the observers receive it. */
  protected abstract changed(value: T): void;

  /** All subscribers receive one value before any of them receives the next. */
  #emit(value: T): void {
    const waiting = (this.#waiting = [value]);
    for (const each of waiting) {
      this.#emitted = each;
      for (const { hook: subscriber } of this.#subscribers.entries) subscriber.next(each);
    }
    this.#waiting = null;
    if (this.#complete) this.#emitComplete();
  }

  #emitComplete(): void {
    for (const { hook: subscriber } of this.#subscribers.entries) completeGuarded(`a subscriber of ${this.name}`, subscriber);
  }
}
