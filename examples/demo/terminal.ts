import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

const BAR_WIDTH = 24;

/** The output of the demo: colours and redrawn lines on a terminal, plain lines in a file. */
export class Terminal {
  #redrawing = false;
  #shown = 0;

  constructor(private readonly output: WriteStream) {}

  heading(text: string): void {
    this.line('');
    this.line(styleText('bold', text), '');
  }

  line(text: string, indent = '  '): void {
    if (this.#redrawing) this.output.write('\r\x1b[K');
    this.#redrawing = false;
    this.#shown = 0;
    this.output.write(text === '' ? '\n' : `${indent}${text}\n`);
  }

  /** Shows progress: each percent on a terminal, each quarter in a file. `share` is 0 … 1. */
  progress(share: number, text: string): void {
    const { isTTY } = this.output;
    const step = Math.floor(share * (isTTY ? 100 : 4));
    if (step <= this.#shown) return;
    this.#shown = step;
    this.#redrawing = isTTY;
    const line = `  ${bar(share)} ${text}`;
    this.output.write(isTTY ? `\r\x1b[K${line}` : `${line}\n`);
  }

  held(checked: string, file: string): void {
    this.line(`${styleText('green', '✓ checked:')} ${checked}`);
    this.line(styleText('dim', `  code: examples/demo/${file}`));
  }

  failed(text: string): void {
    this.line(styleText('red', `✗ ${text}`));
  }
}

/** Draws a share of 0 … 1 as a bar. */
export function bar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
}
