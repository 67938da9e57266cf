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
    'passes its program in node:test, bundled as %s',
    async (format, extension) => {
      const outfile = join(folder, `program.${extension}`);
      await build({
        entryPoints: [join(__dirname, 'node-test/program.ts')],
        outfile,
        bundle: true,
        platform: 'node',
        format,
        logLevel: 'error',
        // What CommonJS has in the place of `import.meta`, as the package's own build has it.
        define: format === 'cjs' ? { 'import.meta': 'undefined' } : {},
        // Loaded as in a user's program: that rxjs's inner files can be imported is part of what is tested.
        packages: 'external',
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
