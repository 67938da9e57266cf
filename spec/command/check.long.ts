import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BuiltCommand } from './command.js';
import { DEFECTS } from './defects.js';
import { PlainServer } from './plain-server.js';

interface Line {
  readonly number?: string;
  readonly title: string;
  readonly rules: readonly string[];
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly codec: string;
  readonly why?: string;
  readonly sent?: readonly string[];
  readonly expected?: string;
  readonly got?: string;
}

let command: BuiltCommand;
let plain: PlainServer | null = null;
beforeAll(() => {
  command = new BuiltCommand();
});
afterEach(() => {
  plain?.close();
  plain = null;
});
afterAll(() => command.dispose());

const linesOf = (out: string): readonly Line[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
const failed = (lines: readonly Line[]): readonly string[] =>
  lines.filter(({ status }) => status === 'failed').map(({ title, expected, got }) => `${title}: expected ${expected}, got ${got}`);

async function listening(server: PlainServer): Promise<string> {
  plain = server;
  return server.listen();
}

describe('rxmux check', () => {
  it.each(['json', 'msgpack'])('The library passes `rxmux check` under %s', async (codec) => {
    const url = await command.serve('--codec', codec);
    const { status, out } = await command.run(['check', '--json', '--codec', codec, '--timeout', '20000', url]);
    const lines = linesOf(out);
    expect(failed(lines)).toEqual([]);
    expect(status).toBe(0);
    expect(
      lines
        .filter((line) => line.status === 'skipped')
        .every(({ why }) => why === `only under ${codec === 'json' ? 'msgpack' : 'json'}` || why?.includes('--limits')),
    ).toBe(true);
    expect(lines.filter((line) => line.status === 'passed').length).toBeGreaterThan(100);
  });

  it('A second server, without the library, passes `rxmux check`', async () => {
    const { status, out } = await command.run([
      'check',
      '--json',
      '--codec',
      'json',
      '--timeout',
      '20000',
      await listening(new PlainServer()),
    ]);
    expect(failed(linesOf(out))).toEqual([]);
    expect(status).toBe(0);
  });

  it.each(DEFECTS)('`rxmux check` finds the server that $fault', async ({ row, server }) => {
    const { status, out } = await command.run([
      'check',
      '--json',
      '--codec',
      'json',
      '--timeout',
      '400',
      ...only(row),
      await listening(server()),
    ]);
    const titles = linesOf(out)
      .filter((line) => line.status === 'failed')
      .map(({ title }) => title);
    expect(titles).toContain(row);
    expect(status).toBe(1);
  });
});

/** Runs only the group of the row, so that a defect costs little. */
function only(title: string): readonly string[] {
  const peer = JSON.parse(readFileSync(join(__dirname, '../conformance/peer.json'), 'utf8')) as {
    readonly groups: readonly { readonly rows: readonly { readonly name: string }[] }[];
  };
  const group = peer.groups.findIndex(({ rows }) => rows.some(({ name }) => name === title));
  return ['--only', group < 0 ? '5' : String(group + 1)];
}
