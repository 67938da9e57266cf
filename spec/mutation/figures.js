import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCEPTED } from './accepted.js';

const root = join(import.meta.dirname, '../..');
const KILLED = ['Killed', 'Timeout'];
const ALIVE = ['Survived', 'NoCoverage'];

/** All mutants of a JSON report, each with its file and the code that it replaces. */
export function mutantsOf(report) {
  const { files } = JSON.parse(readFileSync(join(root, report), 'utf8'));
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n');
    return mutants.map(({ status, location: { start, end }, replacement = '' }) => {
      const text = lines.slice(start.line - 1, end.line);
      const whole = joined(text.join('\n'));
      text.push(text.pop().slice(0, end.column - 1));
      text[0] = text[0].slice(start.column - 1);
      return { file, status, line: start.line, whole, original: joined(text.join('\n')), replacement: joined(replacement) };
    });
  });
}

/** Counts of some mutants, and the share of the valid ones that tests noticed, in percent. */
export function tally(mutants) {
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const killed = count(...KILLED);
  const valid = killed + count(...ALIVE);
  return {
    valid,
    killed,
    timeout: count('Timeout'),
    survived: count('Survived'),
    uncovered: count('NoCoverage'),
    ignored: count('Ignored'),
    score: valid === 0 ? 100 : (100 * killed) / valid,
  };
}

/** The mutants that no test noticed, each with the reason why it is accepted, or `undefined`. */
export function survivorsOf(mutants) {
  return mutants
    .filter(({ status }) => ALIVE.includes(status))
    .map((mutant) => ({ ...mutant, why: ACCEPTED.find((accepted) => isMet(accepted, mutant))?.why }));
}

// Line numbers do not count, since they move with each change of a file.
function isMet(accepted, { file, whole, original, replacement }) {
  const { code = original, mutant = replacement, within = '' } = accepted;
  return file === accepted.file && original === code && replacement === mutant && whole.includes(within);
}

const joined = (code) => code.replace(/\s+/g, ' ');
