import { parseArgs } from 'node:util';
import { addressOf } from '../address.js';
import { Exit, UsageError, onSignal } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { headersOf, timeoutOf } from '../headers.js';
import { hasColours } from '../output.js';
import { check } from './check.js';
import type { CheckOptions } from './check.js';
import { Mismatch } from './mismatch.js';
import { JsonReport, TextReport } from './report.js';
import { allRows, isNumbered } from './rows.js';

export const help = `rxmux check: checks a mux.v1 server or dialer from outside, over raw frames

USAGE
  rxmux check [options] URL
  rxmux check [options] --listen -- COMMAND [ARGUMENT...]

Without --listen the command dials URL, a connection for each row. With
--listen it starts COMMAND for each row, and appends the address to dial.
COMMAND sends the request ["check.echo","hello"], and exits with 0 after
the answer, and with another status after any failure.

OPTIONS
  --codec NAME      json, msgpack or both (default both; json with --listen)
  --limits          check the default limits of rxmux too, some 10 s longer
  --only NUMBER     run this group (5) or row (5.3); may come repeatedly
  --timeout MS      wait so long for each frame (default 2000; 15000 with
                    --listen)
  -H 'NAME: VALUE'  send a header with each handshake; may come repeatedly
  --json            print one JSON object a line
  -h, --help        print this page

AGREED PAYLOADS
Nearly half of the rows need none. The others need a target that answers
these, as a call of a contract ([name] or [name, value]). A row names the
payload that it misses, and is skipped.

  ["check.echo", value]  replies the value
  ["check.sink"]         reads to the end, and replies the number of payloads
  ["check.hold", ms]     reads nothing, and replies null after that time
  ["check.call", value]  sends the value as a request on the same connection,
                         and replies ["value", answer] or ["reset", code]
  ["check.bye"]          replies null, and closes the connection in order. It
                         waits for the live streams

EXIT STATUS
  0  all rows passed      2  wrong arguments
  1  a row failed         6  the target cannot be reached

EXAMPLES
  rxmux check ws://127.0.0.1:8080
  rxmux check --only 5 --only 6.12 --codec json wss://example.org/mux
  rxmux check --listen -- ./my-dialer --once
`;

/** Runs `rxmux check`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      codec: { type: 'string' },
      limits: { type: 'boolean', default: false },
      listen: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      timeout: { type: 'string' },
      header: { type: 'string', short: 'H', multiple: true },
      json: { type: 'boolean', default: false },
    },
  });
  const { listen, limits, only } = values;
  const unknown = only.find((number) => !allRows().some((row) => isNumbered(row, number)));
  if (unknown !== undefined) throw new UsageError(`expected the number of a row or a group for --only, got '${unknown}'`);
  const options: CheckOptions = {
    target: listen ? { command: positionals } : { url: addressOf(positionals), headers: headersOf(values.header) },
    codecs: codecsOf(values.codec ?? (listen ? 'json' : 'both')),
    limits,
    only,
    withinMs: timeoutOf(values.timeout ?? (listen ? '15000' : '2000'), 1),
  };
  if (listen && positionals.length === 0) throw new UsageError('expected a command after --listen --, got none');
  const stray = limits ? '--limits' : values.header && '-H';
  if (listen && stray !== undefined) throw new UsageError(`expected ${stray} with a URL, got it with --listen`);
  // A program that was started ends with this one.
  if (listen) onSignal((status) => process.exit(status));
  const print = (line: string): boolean => process.stdout.write(`${line}\n`);
  return statusOf(options, values.json ? new JsonReport(print) : new TextReport(print, hasColours()));
}

async function statusOf(options: CheckOptions, report: JsonReport | TextReport): Promise<ExitStatus> {
  try {
    const { results, broken } = await check(options, report);
    if (results.length === 0) throw new UsageError('expected a row to run, got none: these options leave out each row of --only');
    const isReached = results.some(({ status }) => status !== 'skipped');
    if (!isReached) throw new Mismatch('a row to run', results[0]?.why ?? 'none');
    return broken.length > 0 || results.some(({ status }) => status === 'failed') ? Exit.FAULT : Exit.OK;
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    process.stderr.write(`rxmux check: ${error.message}\n`);
    return Exit.CONNECTION;
  }
}

function codecsOf(name: string): readonly string[] {
  if (name === 'both') return ['json', 'msgpack'];
  if (name === 'json' || name === 'msgpack') return [name];
  throw new UsageError(`expected the codec json, msgpack or both, got '${name}'`);
}
