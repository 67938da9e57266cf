import { afterEach } from '@jest/globals';

/** Replaces globals by another platform's until the test ends; `undefined` removes one. */
export function otherPlatform(): (globals: Readonly<Record<string, unknown>>) => void {
  const before = new Map<string, PropertyDescriptor | undefined>();
  afterEach(() => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    }
    before.clear();
  });
  return (globals) => {
    for (const [name, value] of Object.entries(globals)) {
      if (!before.has(name)) before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
  };
}
