import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { completeGuarded } from './subscribers.js';

const NONE: readonly never[] = [];

/**
 * Callbacks of one kind, or subscribers, in the order of their registration. The same function may be registered several times.
 *
 * In place of a Subject: the caller decides what an error of one callback does to the others. A change during an iteration affects only
 * later iterations, as with a Subject.
 */
export class HookList<F> {
  /** The current hooks. Each change makes a new array. */
  entries: readonly { readonly hook: F }[] = NONE;

  /** Returns a function that removes the hook. It is safe to call it twice. */
  add(hook: F): () => void {
    const entry = { hook };
    // A spread would make an array with room for 16 more.
    this.entries = this.entries.concat(entry);
    return () => {
      this.entries = this.entries.filter((other) => other !== entry);
    };
  }
}

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
