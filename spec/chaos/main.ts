// Real processes and sockets in bad weather: servers that are killed, frozen and restarted, networks that cut, stall and dribble.
// Prints each claim and its observation. The exit status is 0 only if every claim held.
//
//   npm run chaos
//   npm run chaos -- --quick
//   npm run chaos -- --only "slow readers"
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { answering } from './child.js';
import { claimed, table } from './claim.js';
import type { Claim } from './claim.js';
import { CLIENT_ANSWERS } from './clients.js';
import { seconds } from './figures.js';
import type { Scenario } from './scenario.js';
import { cutUploads } from './scenarios/cut-uploads.js';
import { drained } from './scenarios/drained.js';
import { frozen } from './scenarios/frozen.js';
import { killed } from './scenarios/killed.js';
import { pageReaders } from './scenarios/page-readers.js';
import { slowReaders } from './scenarios/slow-readers.js';
import { SERVER_ANSWERS, watchMemory } from './server.js';
import { FULL, QUICK } from './sizes.js';
import { World } from './world.js';

const PROGRAM = fileURLToPath(import.meta.url);
const SCENARIOS: readonly Scenario[] = [killed, frozen, slowReaders, pageReaders, cutUploads, drained];
const LONGEST_MS = 240_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});

const [role] = positionals;
if (role === 'server') {
  watchMemory();
  answering(SERVER_ANSWERS);
} else if (role === 'clients') answering(CLIENT_ANSWERS);
else process.exitCode = await runAll();

async function runAll(): Promise<number> {
  const rows: (Claim & { readonly scenario: string })[] = [];
  for (const scenario of SCENARIOS.filter(({ name }) => values.only === undefined || name === values.only)) {
    const begun = performance.now();
    const claims = await claimsOf(scenario);
    console.log(`${scenario.name}: ${seconds(performance.now() - begun)}`);
    rows.push(...claims.map((claim) => ({ ...claim, scenario: scenario.name })));
  }
  console.log(`\n${table(rows)}`);
  return rows.length > 0 && rows.every(({ held }) => held) ? 0 : 1;
}

async function claimsOf(scenario: Scenario): Promise<readonly Claim[]> {
  const world = new World(PROGRAM);
  let watchdog: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    watchdog = setTimeout(() => reject(new Error(`not done within ${seconds(LONGEST_MS)}`)), LONGEST_MS);
  });
  try {
    return await Promise.race([scenario.run(world, values.quick ? QUICK : FULL), late]);
  } catch (error) {
    return [claimed('comes to its end', false, String(error))];
  } finally {
    clearTimeout(watchdog);
    await world.end();
  }
}
