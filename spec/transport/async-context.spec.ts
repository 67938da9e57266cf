import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type * as AsyncContexts from '../../src/util/async-context.js';
import { currentContext, LateContext } from '../../src/util/async-context.js';

const user = new AsyncLocalStorage<string>();
const real = Object.getOwnPropertyDescriptor(globalThis, 'process');

afterEach(() => {
  if (real !== undefined) Object.defineProperty(globalThis, 'process', real);
});

/** Loads the module on a platform with this `process`. */
async function loadedWhere(process: unknown): Promise<typeof AsyncContexts> {
  Object.defineProperty(globalThis, 'process', { configurable: true, value: process });
  jest.resetModules();
  return import('../../src/util/async-context.js');
}

describe('currentContext', () => {
  it('`currentContext` runs a task in the context of its caller and returns the result', () => {
    const inContext = user.run('ann', currentContext);
    expect(user.run('bob', () => inContext(() => user.getStore()))).toBe('ann');
  });

  it.each<[string, unknown]>([
    ['a platform without `process`', undefined],
    ['a `process` without built-in modules', {}],
    ['a platform without that module', { getBuiltinModule: () => undefined }],
    ['a module without async resources', { getBuiltinModule: () => ({}) }],
  ])('`currentContext` runs tasks unchanged on %s', async (_what, process) => {
    const module = await loadedWhere(process);
    expect(module.currentContext()(() => 'result')).toBe('result');
  });
});

describe('LateContext', () => {
  it('`LateContext` runs tasks in the context of its first `take`', () => {
    const context = new LateContext();
    const seen: unknown[] = [];
    const note = (): void => void seen.push(user.getStore());
    user.run('ann', () => {
      context.run(note);
      context.take();
    });
    user.run('bob', () => {
      context.take();
      context.run(note);
    });
    expect(seen).toEqual(['ann', 'ann']);
  });
});
