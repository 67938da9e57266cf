import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import ts from 'typescript';
import { parse } from 'yaml';
import { fences, REPOSITORY, textOf } from './markdown.js';

const RECIPES = 'docs/recipes.md';
const [block] = fences(RECIPES, 'yaml');
const manifest = parse(block?.text ?? '') as Deployment;

/** The faults of a manifest by the types of Kubernetes, which come from its schema. */
function faultsOf(deployment: unknown): string[] {
  const name = join(REPOSITORY, 'spec/docs/deployment.ts');
  const text = `import type { Deployment } from 'kubernetes-types/apps/v1.js';\nexport const it: Deployment = ${JSON.stringify(deployment)};`;
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    module: ts.ModuleKind.NodeNext,
    types: [],
    lib: ['lib.es2022.d.ts'],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const disk = host.getSourceFile.bind(host);
  host.getSourceFile = (path, language, ...rest) =>
    path === name ? ts.createSourceFile(path, text, language) : disk(path, language, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([name], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('the manifest for Kubernetes', () => {
  it('The manifest follows the schema of a Deployment', () => {
    expect(faultsOf(manifest)).toEqual([]);
  });

  it.each([
    ['an unknown field', { ...manifest, spec: { ...manifest.spec, replica: 2 } }, /replica/],
    ['a text in place of a number', { ...manifest, spec: { ...manifest.spec, replicas: '2' } }, /not assignable to type 'number'/],
  ])('The check finds %s', (_, planted, fault) => {
    expect(faultsOf(planted)).toEqual([expect.stringMatching(fault)]);
  });

  it('The pod has time to wait and to drain', () => {
    const pod = manifest.spec?.template.spec;
    const [drainMs = NaN] = [...textOf(RECIPES).matchAll(/close\(\{ drainMs: ([\d_]+), reason: 'deploy' \}\)/g)].map(([, ms = '']) =>
      Number(ms.replaceAll('_', '')),
    );
    const [, waitSeconds] = pod?.containers[0]?.lifecycle?.preStop?.exec?.command ?? [];
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(Number(waitSeconds) + drainMs / 1_000);
  });
});
