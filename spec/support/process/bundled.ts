import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { buildSync } from 'esbuild';

/**
 * Bundles a program for the child processes of one file of tests, and removes it after these tests. Returns the path of the bundle.
 *
 * @param program a module; its relative imports begin in `src`
 */
export function bundled(program: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'rxmux-child-'));
  const bundle = join(directory, 'program.cjs');
  beforeAll(() => {
    buildSync({
      stdin: { contents: program, resolveDir: join(__dirname, '../../../src') },
      bundle: true,
      external: ['bufferutil', 'utf-8-validate'],
      ignoreAnnotations: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
      outfile: bundle,
    });
  });
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });
  return bundle;
}
