import { inspect } from 'node:util';
import { boundLogs, log, showable } from '../logger.js';
import type { LogLevel, WriteLine } from '../logger.js';
import { HELLO_HANDLER } from '../peer/hello.js';
import { isError } from '../util/check.js';
import { backgroundTimer } from '../util/time.js';

/** @param more events since the previous line; 0 for the first event of a kind, which is logged at once */
type Line = (more: number) => void;

interface Kind {
  /** How many lines may still be logged at once. */
  left: number;
  more: number;
  line: Line;
  cancel: () => void;
}

/** The most kinds that are counted one by one. All other kinds count as one. */
const MOST_KINDS = 200;
const OTHERS = 'others';

/** Logs events that a remote can cause at any rate. The first events of each kind are logged at once, then one line a period with a count. */
export class SparseLog {
  readonly #kinds = new Map<string, Kind>();

  /**
   * @param periodMs the shortest time between two lines of a kind.
   * @param atOnce how many lines of a kind come at once, after a period without any.
   */
  note(kind: string, periodMs: number, line: Line, atOnce = 1): void {
    const known = this.#kinds.get(kind);
    if (known === undefined) {
      if (this.#kinds.size >= MOST_KINDS && kind !== OTHERS) this.note(OTHERS, periodMs, line, atOnce);
      else {
        this.#kinds.set(kind, { left: atOnce - 1, more: 0, line, cancel: this.#endPeriod(kind, periodMs) });
        line(0);
      }
    } else if (known.left > 0) {
      known.left--;
      line(0);
    } else {
      known.more++;
      known.line = line;
    }
  }

  /** Logs the counts now. */
  close(): void {
    const kinds = [...this.#kinds.values()];
    this.#kinds.clear();
    for (const { more, line, cancel } of kinds) {
      cancel();
      if (more > 0) line(more);
    }
  }

  #endPeriod(kind: string, periodMs: number): () => void {
    return backgroundTimer(periodMs, () => {
      const ended = this.#kinds.get(kind);
      if (ended === undefined) return;
      const { more, line } = ended;
      if (more === 0) {
        this.#kinds.delete(kind);
        return;
      }
      this.#kinds.set(kind, { left: 0, more: 0, line, cancel: this.#endPeriod(kind, periodMs) });
      line(more);
    });
  }
}

/**
 * The most lines of one kind that are written at once. Then there is one line in each period, with a count. Of the errors of `onHello` only
 * one is written at once, because each dial of a client with a bad token may cause one.
 */
const MOST_AT_ONCE = 20;
const PERIOD_MS = 60_000;
/** Messages with the same first characters are of one kind. The rest may be a remote's text. */
const KIND_LENGTH = 40;
/** The most characters of an error's message, and of all that the console shows of an error. */
const MOST_OF_MESSAGE = 2_000;
const MOST_OF_ERROR = 4_000;
/** The most frames of a stack. */
const MOST_FRAMES = 20;
/** While a stream of the process holds more bytes than this, lines are left out. */
const MOST_WAITING_BYTES = 256 * 1024;

/** Frames of this library, of the packages below it, and of Node. Deno and Bun keep packages by version; a link leads to a checkout. */
const OURS =
  /[\\/](?:node_modules[\\/](?:rxmux|rxjs|ws)|(?:rxmux|rxjs|ws)[@\\/]\d+\.\d+\.\d[^\\/]*|rxmux[\\/]dist[\\/](?:esm|cjs))[\\/]|\bnode:/;
const FRAME = '\n    at ';

const lines = new SparseLog();
/** Lines that were left out because their stream is read slowly. */
let unread = 0;

/** Bounds the log of this process: the rate of its lines, their length, and what waits to be read. Later calls change nothing. */
export function boundNodeLogs(): void {
  boundLogs(boundLine);
}

function boundLine(level: Exclude<LogLevel, 'silent'>, message: string, errors: readonly unknown[], write: WriteLine): void {
  const isUrgent = level === 'warn' || level === 'error';
  if (!isUrgent) {
    writeUnlessFull('stdout', write, '');
    return;
  }
  const kind = `${level} ${message.replace(/\(.*?\)|\d+/g, '').slice(0, KIND_LENGTH)} ${placeOf(errors[0])}`;
  lines.note(
    kind,
    PERIOD_MS,
    (more) => {
      writeUnlessFull('stderr', write, more === 0 ? '' : `, the last of ${more} more`);
    },
    message.includes(HELLO_HANDLER) ? 1 : MOST_AT_ONCE,
  );
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

/** Where an error was thrown: different faults do not hide each other. */
function placeOf(error: unknown): string {
  return stackOf(error)?.own[0] ?? '';
}

interface Stack {
  readonly head: string;
  readonly own: readonly string[];
  readonly ours: readonly string[];
}

function stackOf(error: unknown): Stack | null {
  try {
    if (!isError(error) || typeof error.stack !== 'string') return null;
    const [head = '', ...frames] = error.stack.split(FRAME);
    return { head, own: frames.filter((frame) => !OURS.test(frame)), ours: frames.filter((frame) => OURS.test(frame)) };
  } catch {
    // A getter of the error has thrown.
    return null;
  }
}

/** Returns what the log shows of a thrown value: the value itself, or a copy with a folded stack, or the beginning of a long text. */
function bounded(thrown: unknown): unknown {
  const shown = folded(showable(thrown));
  try {
    const text = typeof shown === 'string' ? shown : inspect(shown, { maxStringLength: MOST_OF_ERROR });
    return text.length <= MOST_OF_ERROR ? shown : cut(text, MOST_OF_ERROR);
  } catch {
    // The value cannot be shown, and the console says so.
    return shown;
  }
}

/** Puts the frames of the program first, and folds the library's frames. */
function folded(thrown: unknown): unknown {
  const stack = stackOf(thrown);
  if (stack === null || !isError(thrown)) return thrown;
  const { head, own, ours } = stack;
  if (ours.length === 0 && own.length <= MOST_FRAMES && head.length <= MOST_OF_MESSAGE) return thrown;
  const copy = new Error(cut(thrown.message, MOST_OF_MESSAGE));
  Object.setPrototypeOf(copy, Object.getPrototypeOf(thrown) as object);
  const properties = new Map(Object.entries(Object.getOwnPropertyDescriptors(thrown)));
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
