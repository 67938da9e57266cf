import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';

describe('rxmux/testing without jest', () => {
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rxmux-'));
    await symlink(join(__dirname, '../../node_modules'), join(folder, 'node_modules'), 'junction');
  });

  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['esm', 'mjs'],
    ['cjs', 'cjs'],
  ] as const)(
    'The testing entry point passes its program in node:test, bundled as %s',
    async (format, extension) => {
      const outfile = join(folder, `program.${extension}`);
      await build({
        entryPoints: [join(__dirname, 'node-test/program.ts')],
        outfile,
        bundle: true,
        platform: 'node',
        format,
        logLevel: 'error',
        // CommonJS has no `import.meta`. The package's own build defines it in the same way.
        define: format === 'cjs' ? { 'import.meta': 'undefined' } : {},
        // Loaded as in a user's program: the test covers the import of rxjs's internal files.
        packages: 'external',
        // `sideEffects` of package.json names built files. Of the sources, one registers the codec.
        ignoreAnnotations: true,
      });
      const { stdout } = await promisify(execFile)(process.execPath, ['--test-reporter=tap', outfile], {
        env: { ...process.env, NODE_PATH: join(__dirname, '../../node_modules') },
      });
      expect(stdout).toMatch(/^# pass 6$/m);
      expect(stdout).toMatch(/^# fail 0$/m);
    },
    30_000,
  );
});
