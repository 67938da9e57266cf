import type { Invariant } from './violation.js';

/** A fault to plant in the library. */
export interface Fault {
  readonly fault: string;
  /** The invariant whose violation the model finds first. */
  readonly shows: Invariant;
  readonly sow: () => void;
}

const repairs: (() => void)[] = [];

/** Replaces a method by a faulty one, which receives the original. */
export function plant<T extends object, A extends unknown[], R>(
  prototype: T,
  method: keyof T & string,
  fault: (self: T, original: (...args: A) => R, ...args: A) => R,
): void {
  const original = Reflect.get(prototype, method) as (this: T, ...args: A) => R;
  repairs.push(() => Reflect.set(prototype, method, original));
  Reflect.set(prototype, method, function (this: T, ...args: A): R {
    return fault(this, (...given) => original.apply(this, given), ...args);
  });
}

/** Removes all faults. */
export function weed(): void {
  for (const repair of repairs.splice(0)) repair();
}
