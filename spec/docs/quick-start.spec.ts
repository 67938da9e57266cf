import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { fences, printsOf, REPOSITORY } from './markdown.js';

const FILES = ['api', 'server', 'client', 'page'];
const PROGRAMS = ['server', 'client'];
/** Below node_modules, so that the programs find their imports. */
const BUILT = join(REPOSITORY, 'node_modules/.cache/rxmux-quick-start');
const LISTENING = /^listening \{ address: '.+', family: 'IPv\d', port: (\d+) \}$/m;

const started: ChildProcess[] = [];

describe('quick start', () => {
  const blocks = fences('README.md', 'ts').map(({ text }) => text);

  afterAll(() => {
    for (const program of started) program.kill();
  });

  it.each(FILES.map((name, index) => ({ path: `examples/quick-start/${name}.ts`, block: blocks[index] })))(
    'README.md shows the file $path',
    ({ path, block }) => {
      expect(readFileSync(join(REPOSITORY, path), 'utf8')).toBe(block);
    },
  );

  it('The quick start runs as two processes that print what README.md says', async () => {
    build();
    const port = await portOf(start('server', '0'));
    const client = start('client', `ws://localhost:${port}`);
    const [printed] = await Promise.all([text(client.stdout), once(client, 'exit')]);
    expect(printed.trimEnd().split('\n')).toEqual(printsOf(blocks[2] ?? ''));
    expect(client.exitCode).toBe(0);
  });
});

/** Strips the types, and makes the programs import the sources. */
function build(): void {
  buildSync({
    absWorkingDir: REPOSITORY,
    entryPoints: PROGRAMS.map((name) => `examples/quick-start/${name}.ts`),
    outdir: BUILT,
    bundle: true,
    packages: 'external',
    // The manifest's `sideEffects` describes the built files, not the sources.
    ignoreAnnotations: true,
    alias: { 'rxmux/node': './src/node.ts', 'rxmux/contract': './src/contract.ts', rxmux: './src/index.ts' },
    platform: 'node',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
  });
}

function start(name: string, argument: string): ChildProcess & { readonly stdout: NodeJS.ReadableStream } {
  const program = spawn(process.execPath, [join(BUILT, `${name}.mjs`), argument], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(program);
  return program;
}

async function portOf(server: { readonly stdout: NodeJS.ReadableStream }): Promise<string> {
  let printed = '';
  for await (const chunk of server.stdout) {
    printed += String(chunk);
    const port = LISTENING.exec(printed)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error(`expected a server that listens, got one that printed: ${printed}`);
}
