import { expect } from '@jest/globals';

/** Keys that reach a prototype in careless code. */
export const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'then'] as const;

export const admin = { admin: true };
export const poison = (key: string): Record<string, unknown> => ({ [key]: admin, deep: { [key]: admin, list: [{ [key]: admin }] } });

const names = (): string[] => Reflect.ownKeys(Object.prototype).map(String);
const NAMES = names();

/** No prototype has changed. */
export const unpolluted = (): void => {
  expect(names()).toEqual(NAMES);
  expect(Object.hasOwn(Object, 'admin') || 'admin' in {} || 'admin' in [] || 'admin' in (() => undefined)).toBe(false);
};

/** Checks a map from the wire: its keys are its own, and it inherits only from `Object.prototype`. */
export function checkMap(map: unknown, key: string): void {
  expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
  expect(Object.getOwnPropertyDescriptor(map, key)?.value).toEqual(admin);
  const { deep } = map as { deep: { list: object[] } };
  for (const inner of [deep, ...deep.list]) {
    expect(Object.getPrototypeOf(inner)).toBe(Object.prototype);
    expect(Object.hasOwn(inner, key)).toBe(true);
  }
}
