import { Mismatch } from './mismatch.js';
import { runStep } from './steps.js';
import type { Run } from './steps.js';
import type { RawCodec } from '../raw-codec.js';
import type { Row } from './rows.js';
import type { Target } from './target.js';
import type { Wire } from './wire.js';

/** The result of one row under one codec. */
export interface Result {
  readonly row: Row;
  readonly codec: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why a row was skipped. */
  readonly why?: string;
  readonly sent?: readonly string[];
  readonly expected?: string;
  readonly got?: string;
}

/** The settings of a check under one codec. */
export interface Plan {
  readonly codec: RawCodec;
  /** Makes the target of one run. */
  readonly target: () => Target;
  readonly withinMs: number;
  /** Receives the habits that a connection has broken. */
  readonly broke: (rule: string, got: string, row: Row) => void;
}

/** Runs a row once for each of its values, and returns the first failure. */
export async function runRow(row: Row, plan: Plan): Promise<Result> {
  for (const each of row.each) {
    const failure = await runOnce(row, each, plan);
    if (failure !== null) return { row, codec: plan.codec.name, status: 'failed', ...failure };
  }
  return { row, codec: plan.codec.name, status: 'passed' };
}

type Failure = Required<Pick<Result, 'sent' | 'expected' | 'got'>>;

async function runOnce(row: Row, each: unknown, { codec, target: makeTarget, withinMs, broke }: Plan): Promise<Failure | null> {
  const target = makeTarget();
  let connecting: Promise<Wire> | null = null;
  const run: Run = { codec, each, count: 0, target, sent: [], withinMs, wire: () => (connecting ??= target.connect(run)) };
  try {
    for (const step of row.steps) await runStep(step, run);
    return null;
  } catch (error) {
    if (error instanceof Mismatch) return { sent: run.sent, expected: error.expected, got: error.got };
    throw error;
  } finally {
    const wire = await (connecting as Promise<Wire> | null)?.catch(() => null);
    for (const [rule, got] of wire?.habits.broken ?? []) broke(rule, got, row);
    target.dispose();
  }
}

/** Runs `work` on each item, at most `width` at a time, and returns the results in order. */
export async function pooled<T, R>(items: readonly T[], width: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
