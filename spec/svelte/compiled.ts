import { jest } from '@jest/globals';
import type { Component } from 'svelte';
import { compile } from 'svelte/compiler';
import ts from 'typescript';

/** Compiles a component as an application's bundler does. `given` has the modules that the test passes. */
export function compiled(
  source: string,
  given: Readonly<Record<string, unknown>>,
  generate: 'client' | 'server' = 'client',
): Component<Record<string, unknown>> {
  const { js } = compile(source, { generate, filename: 'Shown.svelte' });
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
  const { outputText } = ts.transpileModule(js.code, { compilerOptions });
  const module: { exports: { default?: Component<Record<string, unknown>> } } = { exports: {} };
  const load = (name: string): unknown => given[name] ?? jest.requireActual(name);
  const run = Reflect.construct(Function, ['require', 'exports', outputText]) as (require: typeof load, exports: object) => void;
  run(load, module.exports);
  const { default: component } = module.exports;
  if (component === undefined) throw new Error('expected a component');
  return component;
}
