import type { Invariant } from './violation.js';

/** A fault to be put into the library. */
export interface Fault {
  readonly fault: string;
  /** What the model finds first. */
  readonly shows: Invariant;
  readonly sow: () => void;
}

const repairs: (() => void)[] = [];

/** Puts a fault in the place of a method, which it is given. */
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

/** Takes all faults out again. */
export function weed(): void {
  for (const repair of repairs.splice(0)) repair();
}
