// The process that dials: `node dialer.js URL CODEC`.
import { connect } from 'rxmux/node';
import { chosenCodec } from './codec.js';
import { seconds } from './figures.js';
import { STEPS } from './steps.js';
import { Terminal } from './terminal.js';

const LONGEST_STEP_MS = 60_000;

const [, , url = '', codecName = ''] = process.argv;
const terminal = new Terminal(process.stdout);
const begun = performance.now();

const peer = connect(url, { codec: chosenCodec(codecName) });
await peer.opened;
terminal.line(`process ${process.pid} has dialed ${url}, where process ${process.ppid} serves, under ${peer.codec.name}`);

for (const [index, step] of STEPS.entries()) {
  const name = `${index + 1} of ${STEPS.length}: ${step.title}`;
  terminal.heading(name);
  const watchdog = setTimeout(() => {
    fail(name, `not done within ${LONGEST_STEP_MS / 1_000} s`);
  }, LONGEST_STEP_MS);
  try {
    await step.run(peer, terminal);
  } catch (error) {
    fail(name, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
  clearTimeout(watchdog);
  terminal.held();
}
terminal.heading(`all ${STEPS.length} steps held under ${peer.codec.name}, in ${seconds(performance.now() - begun)}`);

function fail(step: string, why: string): never {
  terminal.failed(`step ${step} did not hold: ${why}`);
  process.exit(1);
}
