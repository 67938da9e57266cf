import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';

type Accepted = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Accepted> = ReturnType<typeof parseArgs<{ args: string[]; options: T }>>['values'];

/** @throws TypeError that lists the known options, for an unknown one or one that lacks its value */
export function parseOptions<const T extends Accepted>(args: readonly string[], options: T): Values<T> {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new TypeError(`${(error as Error).message}; expected ${known.length === 0 ? 'no options' : `some of ${known.join(', ')}`}`, {
      cause: error,
    });
  }
}

/** Whether the command line asks for a short run. For programs that have only this option. */
export function readQuick(args: readonly string[]): boolean {
  return parseOptions(args, { quick: { type: 'boolean', default: false } }).quick;
}

/** Returns what `read` makes of the program's arguments. At a TypeError the program prints one line, and ends with status 2. */
export function fromCommandLine<T>(read: (args: readonly string[]) => T): T {
  try {
    return read(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}
