import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Terminal } from '../../examples/demo/terminal.js';

/** A terminal, or a file, that keeps what is written to it. */
function output(isTTY: boolean): { readonly terminal: Terminal; readonly written: string[] } {
  const written: string[] = [];
  const stream = { isTTY, write: (text: string) => written.push(text) };
  return { terminal: new Terminal(stream as unknown as WriteStream), written };
}

describe('the output of the demo', () => {
  it('A step says what was checked, and in which file its code is', () => {
    const { terminal, written } = output(true);
    terminal.held('the sum is 5050', 'steps/request.ts');
    expect(written.map(stripVTControlCharacters)).toEqual(['  ✓ checked: the sum is 5050\n', '    code: examples/demo/steps/request.ts\n']);
  });

  it('A terminal redraws its line of progress at each percent, and the next line replaces it', () => {
    const { terminal, written } = output(true);
    for (const share of [0.1, 0.104, 0.11]) terminal.progress(share, `${share}`);
    terminal.line('done');
    expect(written.map((text) => text.startsWith('\r\x1b[K'))).toEqual([true, true, true, false]);
    expect(written.at(-1)).toBe('  done\n');
  });

  it('A file has a line of progress at each quarter', () => {
    const { terminal, written } = output(false);
    for (let percent = 0; percent <= 100; percent++) terminal.progress(percent / 100, `${percent} %`);
    expect(written.map((text) => text.trim().split(' ').slice(1).join(' '))).toEqual(['25 %', '50 %', '75 %', '100 %']);
    expect(written.join('')).not.toContain('\x1b');
  });

  it('The demo says that it builds before it does anything else', () => {
    const { scripts } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { scripts: Record<string, string> };
    expect(scripts['demo']).toMatch(/^echo building rxmux, which takes some seconds && /);
  });
});
