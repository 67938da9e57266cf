import { inspect } from 'node:util';
import { identity } from 'rxjs';
import { FRAME, boundRates, stackOf } from '../acceptor/sparse-log.js';
import { log, showable } from '../logger.js';
import type { WriteLine } from '../logger.js';
import { isError } from '../util/check.js';

/** The most characters of an error's message, and of all that the console shows of an error. */
const MOST_OF_MESSAGE = 2_000;
const MOST_OF_ERROR = 4_000;
/** The most frames of a stack. */
const MOST_FRAMES = 20;
/** While a stream of the process holds more bytes than this, lines are left out. */
const MOST_WAITING_BYTES = 256 * 1024;

/** Lines that were left out because their stream is read slowly. */
let unread = 0;

/** Bounds the log of this process: the rate of its lines, their length, and what waits to be read. Later calls change nothing. */
export function boundNodeLogs(): void {
  boundRates((write, suffix, isUrgent) => {
    writeUnlessFull(isUrgent ? 'stderr' : 'stdout', write, suffix);
  });
}

function writeUnlessFull(to: 'stdout' | 'stderr', write: WriteLine, suffix: string): void {
  if (process[to].writableLength > MOST_WAITING_BYTES) {
    unread++;
    return;
  }
  const missing = unread;
  unread = 0;
  write(suffix, bounded);
  if (missing > 0) log('warn', `${missing} lines were left out of the log before this one, because its reader is slow`);
}

/** Returns what the log shows of a thrown value: the value itself, or a copy with a folded stack, or the beginning of a long text. */
function bounded(thrown: unknown): unknown {
  const whole = showable(thrown);
  for (const show of [folded, identity])
    try {
      const shown = show(whole);
      const text = typeof shown === 'string' ? shown : inspect(shown, { maxStringLength: MOST_OF_ERROR });
      return text.length <= MOST_OF_ERROR ? shown : cut(text, MOST_OF_ERROR);
    } catch {
      // A getter of the error has thrown, or a method of the copy, which lacks private fields.
    }
  // The value cannot be shown.
  return whole;
}

/** Puts the frames of the program first, and folds the library's frames. */
function folded(thrown: unknown): unknown {
  const stack = stackOf(thrown);
  if (stack === null || !isError(thrown)) return thrown;
  const { head, own, ours } = stack;
  if (ours.length === 0 && own.length <= MOST_FRAMES && head.length <= MOST_OF_MESSAGE) return thrown;
  const copy = new Error(cut(thrown.message, MOST_OF_MESSAGE));
  Object.setPrototypeOf(copy, Object.getPrototypeOf(thrown) as object);
  // The name of a DOMException comes from a getter that takes no copy.
  const properties = new Map<string, PropertyDescriptor>([['name', { value: thrown.name }]]);
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(thrown))) properties.set(name, property);
  for (const name of ['stack', 'message']) properties.delete(name);
  Object.defineProperties(copy, Object.fromEntries(properties));
  copy.stack = [cut(head, MOST_OF_MESSAGE), ...framesOf(own.length === 0 ? ours : own), ...foldOf(own.length === 0 ? [] : ours)].join(
    FRAME,
  );
  return copy;
}

function framesOf(frames: readonly string[]): readonly string[] {
  return frames.length <= MOST_FRAMES ? frames : [...frames.slice(0, MOST_FRAMES), `${frames.length - MOST_FRAMES} more frames`];
}

function foldOf({ length }: readonly string[]): readonly string[] {
  return length === 0 ? [] : [`${length} of rxmux and below`];
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}
