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
let current = 'dialing';
process.on('uncaughtException', fail);

const peer = connect(url, { codec: chosenCodec(codecName) });
await peer.opened;
terminal.line(`process ${process.pid} has dialed ${url}, where process ${process.ppid} serves, under ${peer.codec.name}`);

for (const [index, step] of STEPS.entries()) {
  current = `${index + 1} of ${STEPS.length}: ${step.title}`;
  terminal.heading(current);
  const watchdog = setTimeout(() => {
    fail(new Error(`not done within ${seconds(LONGEST_STEP_MS)}`));
  }, LONGEST_STEP_MS);
  await step.run(peer, terminal);
  clearTimeout(watchdog);
  terminal.held(step.checked, step.file);
}
terminal.heading(`all ${STEPS.length} steps held under ${peer.codec.name}, in ${seconds(performance.now() - begun)}`);

function fail(error: Error): never {
  terminal.failed(`${current} did not hold: ${error.message}`);
  process.exit(1);
}
