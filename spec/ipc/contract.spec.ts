import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { ipcBus, ipcLog } from '../../src/ipc.js';
import { room } from '../../src/topics.js';
import type { Place } from '../support/process/ipc-contract.js';
import { testBuses, testLogs } from '../topics/contract.js';
import type { Topics } from '../topics/contract.js';

const alone = (): Topics => ({ bus: ipcBus(), log: (topic) => ipcLog(topic), close: () => undefined });

testLogs('one process', alone);
testLogs('a room of one process', () => ({ ...alone(), log: <T>(topic: string) => room<T>(ipcBus(), topic) }), false);
testBuses('one process', alone);

describe('the contract of logs and buses', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rxmux-ipc-'));
  const program = join(directory, 'program.cjs');

  beforeAll(() => {
    const support = join(__dirname, '../support/process');
    buildSync({
      entryPoints: [join(support, 'ipc-contract.ts')],
      bundle: true,
      alias: { '@jest/globals': join(support, 'few-tests.ts') },
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
      ignoreAnnotations: true,
      outfile: program,
    });
  });
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  it.each<Place>(['worker', 'thread', 'thread of a worker'])('All tests of logs and buses pass in a %s', async (place) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, place]);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ passed: expect.any(Number), failures: [] });
    expect((JSON.parse(stdout) as { passed: number }).passed).toBeGreaterThan(80);
  });
});
