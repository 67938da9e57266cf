import { format } from 'node:util';
import { expect } from 'expect';

/** The part of Jest that contracts use, for a process or thread that Jest does not run. A bundle takes it for `@jest/globals`. */
export { expect };

type Step = () => unknown;

interface Suite {
  readonly before: Step[];
  readonly tests: (readonly [title: string, run: Step])[];
  readonly after: Step[];
}

const suites: Suite[] = [];
const last = (): Suite => suites.at(-1) ?? { before: [], tests: [], after: [] };

export function describe(_title: string, declare: () => void): void {
  suites.push({ before: [], tests: [], after: [] });
  declare();
}

export const beforeAll = (step: Step): unknown => last().before.push(step);
export const afterAll = (step: Step): unknown => last().after.push(step);

export function it(title: string, run: Step): void {
  last().tests.push([title, run]);
}

it.each =
  (rows: readonly unknown[]) =>
  (title: string, run: (...row: unknown[]) => unknown): void => {
    for (const row of rows) {
      const values: unknown[] = Array.isArray(row) ? row : [row];
      it(format(title, ...values.slice(0, 1)), () => run(...values));
    }
  };

/** Runs all tests in order. Returns how many passed, and the failures. */
export async function runTests(): Promise<{ readonly passed: number; readonly failures: readonly string[] }> {
  let passed = 0;
  const failures: string[] = [];
  for (const { before, tests, after } of suites) {
    for (const step of before) await step();
    for (const [title, run] of tests)
      try {
        await run();
        passed++;
      } catch (error) {
        failures.push(`${title}: ${String(error)}`);
      }
    for (const step of after) await step();
  }
  return { passed, failures };
}
