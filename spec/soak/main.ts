// The long run. Each part runs until a leak or a wrong answer would show. The exit status is 0 only if all of them pass.
//
// - npm run soak: all parts
// - npm run soak -- --quick: all parts, each short
// - npm run soak -- mixed --minutes 10: the named parts
// - npm run soak -- model --commands 1000000 --seed 7
import { parseArgs } from 'node:util';
import { mixed } from './mixed.js';
import { model } from './model.js';
import type { SoakPart } from './part.js';
import { requests } from './requests.js';

const PARTS: Readonly<Record<string, SoakPart>> = { requests, mixed, model };

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '60' },
    commands: { type: 'string' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
  allowPositionals: true,
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new TypeError(`--minutes: expected a number above 0, got ${values.minutes}`);
const commands = values.commands === undefined ? null : Number(values.commands);
if (commands !== null && !(commands > 0)) throw new TypeError(`--commands: expected a number above 0, got ${values.commands ?? ''}`);
const seed = Number(values.seed);
if (!Number.isInteger(seed)) throw new TypeError(`--seed: expected an integer, got ${values.seed}`);
for (const name of positionals.length === 0 ? Object.keys(PARTS) : positionals) {
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (part === undefined) throw new TypeError(`expected one of ${Object.keys(PARTS).join(', ')}, got ${name}`);
  const { figures, fault } = await part({ quick: values.quick, minutes, commands, seed });
  console.log(`${name}: ${figures}`);
  if (fault === null) continue;
  console.error(`${name}: FAILED: ${fault}`);
  process.exitCode = 1;
}
