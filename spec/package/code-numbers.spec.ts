import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const REWRITE = `
  import { codeNumbers } from './scripts/code-numbers.js';
  console.log(JSON.stringify(process.argv.slice(1).map(codeNumbers('src'))));`;

function rewritten(sources: readonly string[]): unknown {
  const cwd = join(__dirname, '../..');
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', REWRITE, ...sources], { cwd, encoding: 'utf8' });
  return JSON.parse(stdout);
}

describe('codeNumbers', () => {
  it('The build writes the numbers of codes, and keeps types, other names and other objects', () => {
    const kept = ['type T = typeof ResetCode.REFUSED;', 'code = ResetCode.UNKNOWN;', 'wire.ResetCode.CANCEL', 'MyResetCode.CANCEL'];
    expect(rewritten(['reset(ResetCode.CANCEL, CloseCode.POLICY)', 'code ?? ResetCode.NO_ERROR', ...kept])).toEqual([
      'reset(8, 1008)',
      'code ?? 0',
      ...kept,
    ]);
  });
});
