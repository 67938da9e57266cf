import { styleText } from 'node:util';
import { HABITS } from './habits.js';
import type { Result } from './run.js';

/** A habit that some connection has broken. */
export interface Broken {
  readonly codec: string;
  readonly rule: string;
  readonly got: string;
  /** The number of the row during which it was seen first. */
  readonly during: string;
}

/** Writes the results of a check. */
export interface Report {
  begin(codec: string): void;
  row(result: Result): void;
  habits(codec: string, broken: readonly Broken[]): void;
  end(results: readonly Result[], broken: readonly Broken[], seconds: number): void;
}

type Print = (line: string) => void;

/** One JSON object a line: a result, or a habit. */
export class JsonReport implements Report {
  constructor(private readonly print: Print) {}

  begin(): void {
    // Each line names its codec.
  }

  row({ row: { number, name, rules, group }, ...rest }: Result): void {
    this.print(JSON.stringify({ number, group, title: name, rules, ...rest }));
  }

  habits(codec: string, broken: readonly Broken[]): void {
    for (const { rule, got, during } of broken)
      this.print(JSON.stringify({ group: 'During all rows', title: HABITS[rule], rules: [rule], codec, status: 'failed', got, during }));
  }

  end(): void {
    // The exit status says the rest.
  }
}

/** Lines for a person, in the manner of h2spec. */
export class TextReport implements Report {
  #group = '';

  constructor(
    private readonly print: Print,
    private readonly isColoured: boolean,
  ) {}

  begin(codec: string): void {
    this.#group = '';
    this.print(`\nunder ${codec}`);
  }

  row({ row, status, why, sent = [], expected, got }: Result): void {
    if (row.group !== this.#group) this.print(`  ${row.number.split('.')[0]}. ${row.group}`);
    this.#group = row.group;
    const title = `${row.number.padEnd(6)}${row.name} (${row.rules.join(', ')})`;
    if (status === 'passed') this.print(`    ${this.#paint('green', '✓')} ${title}`);
    if (status === 'skipped') this.print(`    ${this.#paint('yellow', '–')} ${title}: ${why}`);
    if (status !== 'failed') return;
    this.print(`    ${this.#paint('red', `✗ ${title}`)}`);
    for (const line of sent) this.print(`        sent      ${line}`);
    this.print(`        expected  ${expected}\n        got       ${got}`);
  }

  habits(_codec: string, broken: readonly Broken[]): void {
    this.print('  During all rows');
    for (const [rule, title] of Object.entries(HABITS)) {
      const fault = broken.find((one) => one.rule === rule);
      if (fault === undefined) this.print(`    ${this.#paint('green', '✓')} ${title} (${rule})`);
      else this.print(`    ${this.#paint('red', `✗ ${title} (${rule})`)}\n        got       ${fault.got}, in row ${fault.during}`);
    }
  }

  end(results: readonly Result[], broken: readonly Broken[], seconds: number): void {
    const count = (status: Result['status']): number => results.filter((result) => result.status === status).length;
    const failed = count('failed') + broken.length;
    this.print(`\n${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped, in ${seconds.toFixed(1)} s`);
  }

  #paint(colour: 'green' | 'red' | 'yellow', text: string): string {
    return this.isColoured ? styleText(colour, text) : text;
  }
}
