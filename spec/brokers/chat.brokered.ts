import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { BrokerProcess } from './broker-process.js';
import { KINDS } from './kinds.js';

const ROOT = join(__dirname, '../..');
const DOORS = ['contract', 'nats', 'node', 'redis', 'topics'];

/** Within the package, where the program finds its dependencies. */
const folder = join(ROOT, `dist/spec/chat-${process.pid}`);

beforeAll(async () => {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['examples/chat/main.ts', 'examples/chat/server.ts'],
    outdir: folder,
    bundle: true,
    ignoreAnnotations: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
    alias: Object.fromEntries([...DOORS.map((door) => [`rxmux/${door}`, `./src/${door}.ts`]), ['rxmux', './src/index.ts']]),
  });
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe.each(KINDS)('examples/chat over $name', (kind) => {
  it('Two clients of the chat hear every line once and in order, while one server is killed and the other one drains', async () => {
    const broker = await BrokerProcess.start(kind.product);
    const url = `${kind.name.toLowerCase()}://127.0.0.1:${broker.port}`;
    const once = [join(folder, 'main.js'), '--once', '--broker', url];
    const { stdout } = await promisify(execFile)(process.execPath, once, { timeout: 150_000 }).finally(() => broker.stop());
    expect(stdout.match(/heard \d+ lines once and in order/g)).toHaveLength(2);
  });
});
