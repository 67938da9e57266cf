// Shows every kind of call over a real socket between two processes: this one serves, and starts the one that dials.
// Its exit status is 0 only if every check passed.
//
//   npm run demo                      also serves the inspector, until Ctrl-C.
//   npm run demo -- --once            ends by itself, as it does without a terminal.
//   npm run demo -- --codec msgpack   uses the other codec.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serve } from 'rxmux/node';
import { chosenCodec } from './codec.js';
import { seconds } from './figures.js';
import { STEPS } from './steps.js';
import { CARGO_BYTES } from './steps/overtaking.js';
import { describeError, reportError } from './steps/remote-error.js';

const LONGEST_RUN_MS = 120_000;

process.on('uncaughtException', fail);

const { values } = parseArgs({ options: { codec: { type: 'string', default: 'json' }, once: { type: 'boolean', default: false } } });
const staysOpen = process.stdout.isTTY && !values.once;
const answers = Object.fromEntries(STEPS.flatMap((step) => Object.entries(step.answers)));

const server = serve({
  port: 0,
  host: '127.0.0.1',
  codec: chosenCodec(values.codec),
  limits: { maxPayloadBytes: CARGO_BYTES + 1_024, maxHeldBytes: 2 * CARGO_BYTES },
  errorSerializer: describeError,
  onError: reportError,
  handler: (job: { readonly op: string }, stream) => answers[job.op]?.(job, stream),
});
await server.listening;

const inspector = staysOpen ? await (await import('./inspector.js')).serveInspector(server) : null;
if (inspector !== null) console.log(`\n  watch it live: ${inspector.url}\n`);

const program = fileURLToPath(new URL('dialer.js', import.meta.url));
const dialer = spawn(process.execPath, [program, server.url, values.codec], { stdio: 'inherit' });
const watchdog = setTimeout(() => {
  dialer.kill('SIGKILL');
  fail(new Error(`not done within ${seconds(LONGEST_RUN_MS)}`));
}, LONGEST_RUN_MS);
const [status, signal] = (await once(dialer, 'exit')) as [number, null] | [null, NodeJS.Signals];
clearTimeout(watchdog);
if (status === null) throw new Error(`${signal} ended the process that dials`);
process.exitCode = status;
if (inspector !== null) {
  console.log(`\n  the inspector shows this run at ${inspector.url} until Ctrl-C`);
  await once(process, 'SIGINT');
  await inspector.close();
}
await server.close();

function fail(error: Error): never {
  console.error(`demo: ${error.message}`);
  process.exit(1);
}
