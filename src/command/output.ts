import { once } from 'node:events';
import { escaped } from '../util/check.js';

/** Characters that `escaped` escapes, except tabs and line breaks. */
const UNSAFE_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** Those that `inspect` of Node leaves as they are. */
const UNSAFE_INSPECTED = /[\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The longest text of a remote in a message. */
const LONGEST = 2_000;

/** Returns a text that may hold a remote's on one line of at most 2 000 characters. */
export function oneLine(text: string): string {
  const shown = escaped(text.slice(0, LONGEST));
  return text.length > LONGEST ? `${shown}…` : shown;
}

/** Returns what an error of the network says. A name with several addresses fails with a code, and without a message. */
export function networkText({ message, code }: NodeJS.ErrnoException): string {
  return message.trim() || String(code);
}

/** Returns JSON without characters on which a terminal acts. It stands for the same value. */
export function safeJson(json: string): string {
  return escaped(json);
}

/** Returns a text of several lines, as a terminal may show it. */
export function safeLines(text: string): string {
  return text.replace(UNSAFE_IN_LINES, escaped);
}

/** Returns what `inspect` made of a value, as a terminal may show it. The colours stay. */
export function safeInspected(text: string): string {
  return text.replace(UNSAFE_INSPECTED, escaped);
}

/** Prints a row. Resolves once the output takes more, so that a slow reader slows the caller down. */
export async function print(row: string): Promise<void> {
  if (!process.stdout.write(`${row}\n`)) await once(process.stdout, 'drain');
}

/** Whether the output shows colours: a terminal does, unless `NO_COLOR` is set. */
export function hasColours(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors();
}
