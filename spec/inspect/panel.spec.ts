import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { showInspector } from '../../src/inspector.js';
import type { ShowInspectorOptions } from '../../src/inspector.js';
import { createPair } from '../../src/testing.js';
import { rxmuxInspector } from '../../src/vite.js';
import type { RxmuxInspectorOptions } from '../../src/vite.js';

const { dialer } = createPair();

afterAll(() => dialer.close());

describe('showInspector', () => {
  it.each<[mistake: string, options: unknown, message: string]>([
    ['a selector in place of an element', { element: '#panel' }, "element: expected an element, got '#panel'"],
    ['a number for a boolean', { isOpen: 1 }, 'isOpen: expected a boolean, got 1'],
  ])('It refuses %s', (_, options, message) => {
    expect(() => showInspector(dialer, options as ShowInspectorOptions)).toThrow(new TypeError(message));
  });

  it('It refuses what is no peer, and names itself', () => {
    expect(() => showInspector('ws://127.0.0.1' as never)).toThrow(/^showInspector: expected /);
  });

  it('It says what a program without a page can use', () => {
    const message = 'showInspector: expected a page, got a program without a document: use answerInspector of rxmux/inspect';
    expect(() => showInspector(dialer)).toThrow(new Error(message));
  });
});

describe('rxmuxInspector', () => {
  const plugin = rxmuxInspector({ isOpen: true });

  it('It takes part while Vite serves a page, and in no build and no test', () => {
    const applies = (command: string, mode: string): boolean => plugin.apply({}, { command, mode });
    expect([applies('serve', 'development'), applies('build', 'production'), applies('serve', 'test')]).toEqual([true, false, false]);
  });

  it('It takes part in no test of Vitest under another mode, such as a benchmark', () => {
    const replaced = jest.replaceProperty(process, 'env', { ...process.env, VITEST: 'true' });
    expect(['benchmark', 'staging'].map((mode) => plugin.apply({}, { command: 'serve', mode }))).toEqual([false, false]);
    replaced.restore();
  });

  it('It puts a module between a page and rxmux, which itself gets the package', () => {
    const id = plugin.resolveId('rxmux', '/src/main.ts') ?? '';
    expect(plugin.load(id)).toContain('{ isOpen: true }');
    expect(plugin.resolveId('rxmux', id)).toBeNull();
  });

  it.each([
    ['another door', 'rxmux/react', undefined],
    ['a module of a server that renders', 'rxmux', { isEntry: false, ssr: true }],
  ])('It leaves %s alone', (_, source, options) => {
    expect(plugin.resolveId(source, '/src/main.ts', options)).toBeNull();
  });

  it('It loads no other module', () => {
    expect(plugin.load('/src/main.ts')).toBeNull();
  });

  it('It refuses a wrong option', () => {
    expect(() => rxmuxInspector({ isOpen: 'yes' } as unknown as RxmuxInspectorOptions)).toThrow(
      new TypeError("isOpen: expected a boolean, got 'yes'"),
    );
  });
});
