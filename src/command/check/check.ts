import { AcceptorTarget } from './acceptor.js';
import { DialerTarget } from './dialer.js';
import { Mismatch } from './mismatch.js';
import { offeredBy } from './probe.js';
import { rawCodec } from '../raw-codec.js';
import type { Broken, Report } from './report.js';
import { allRows, isNumbered } from './rows.js';
import type { Row } from './rows.js';
import { pooled, runRow } from './run.js';
import type { Plan, Result } from './run.js';
import type { ServerAddress, Target } from './target.js';

/** Settings of a check. */
export interface CheckOptions {
  /** The server that is checked, or the command of a program that dials. */
  readonly target: ServerAddress | { readonly command: readonly string[] };
  readonly codecs: readonly string[];
  /** Whether the defaults of this library are checked too. */
  readonly limits: boolean;
  /** Numbers of rows or groups; every row if empty. */
  readonly only: readonly string[];
  /** How long a step waits for a frame, in ms. */
  readonly withinMs: number;
}

/** The outcome of a check under all its codecs. */
export interface Outcome {
  readonly results: readonly Result[];
  readonly broken: readonly Broken[];
}

/** The number of rows that run at once. Programs that dial start one by one. */
const WIDTH = { acceptor: 8, dialer: 2 };

/** Runs all rows that fit the target, and reports each. */
export async function check(options: CheckOptions, report: Report): Promise<Outcome> {
  const began = performance.now();
  const results: Result[] = [];
  const broken: Broken[] = [];
  for (const name of options.codecs) {
    const found: Broken[] = [];
    report.begin(name);
    for (const result of await checkUnder(name, options, found)) {
      report.row(result);
      results.push(result);
    }
    report.habits(name, found);
    broken.push(...found);
  }
  report.end(results, broken, (performance.now() - began) / 1000);
  return { results, broken };
}

async function checkUnder(name: string, options: CheckOptions, broken: Broken[]): Promise<readonly Result[]> {
  const { target } = options;
  const role = 'url' in target ? 'acceptor' : 'dialer';
  const rows = allRows().filter((row) => row.role === role && isMeant(row, options.only));
  const codec = await rawCodec(name);
  if (codec === null) return rows.map((row) => skipped(row, name, 'the package @msgpack/msgpack is not installed'));
  const newTarget = (): Target => ('url' in target ? new AcceptorTarget(target) : new DialerTarget(target.command));
  const broke: Plan['broke'] = (rule, got, { number }) => {
    if (!broken.some((one) => one.rule === rule)) broken.push({ codec: name, rule, got, during: number });
  };
  const plan: Plan = { codec, target: newTarget, withinMs: options.withinMs, broke };
  const offered = role === 'dialer' ? new Set<string>() : await offeredBy(plan).catch(asRefused);
  if (offered instanceof Mismatch) return rows.map((row) => skipped(row, name, offered.got));
  return pooled(rows, WIDTH[role], async (row) => {
    const why = reasonToSkip(row, name, offered, options.limits);
    return why === null ? runRow(row, plan) : skipped(row, name, why);
  });
}

/** A server may refuse one codec. Any other failure of a dial ends the check. */
function asRefused(error: unknown): Mismatch {
  if (error instanceof Mismatch && /\b400$/.test(error.got)) return new Mismatch(error.expected, 'the target does not take this codec');
  throw error;
}

function isMeant(row: Row, only: readonly string[]): boolean {
  return only.length === 0 || only.some((number) => isNumbered(row, number));
}

function reasonToSkip(row: Row, codec: string, offered: ReadonlySet<string>, limits: boolean): string | null {
  if (row.codecs?.includes(codec) === false) return `only under ${row.codecs.join()}`;
  if (row.limits && !limits) return 'a local decision, checked with --limits';
  const missing = row.needs.filter((name) => !offered.has(name));
  return missing.length === 0 ? null : `the target does not offer check.${missing.join(', check.')}`;
}

function skipped(row: Row, codec: string, why: string): Result {
  return { row, codec, status: 'skipped', why };
}
