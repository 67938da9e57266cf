import { boundLogs } from '../logger.js';
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

/** Frames of this library, of the packages below it, and of Node. Deno and Bun keep packages by version; a link leads to a checkout. */
const OURS =
  /[\\/](?:node_modules[\\/](?:rxmux|rxjs|ws)|(?:rxmux|rxjs|ws)[@\\/]\d+\.\d+\.\d[^\\/]*|rxmux[\\/]dist[\\/](?:esm|cjs))[\\/]|\bnode:/;
export const FRAME = '\n    at ';

const lines = new SparseLog();

/**
 * Writes a line, with a text after its message.
 *
 * @param isUrgent whether it is a warning or an error
 */
type Put = (write: WriteLine, suffix: string, isUrgent: boolean) => void;

let put: Put = (write, suffix) => {
  write(suffix);
};

/**
 * Bounds the rate of the lines of this program's log.
 *
 * @param better replaces the plain way to write a line, for each later call too
 */
export function boundRates(better?: Put): void {
  if (better !== undefined) put = better;
  boundLogs(boundLine);
}

function boundLine(level: Exclude<LogLevel, 'silent'>, message: string, errors: readonly unknown[], write: WriteLine): void {
  const isUrgent = level === 'warn' || level === 'error';
  if (!isUrgent) {
    put(write, '', false);
    return;
  }
  const kind = `${level} ${message.replace(/\(.*?\)|\d+/g, '').slice(0, KIND_LENGTH)} ${placeOf(errors[0])}`;
  lines.note(
    kind,
    PERIOD_MS,
    (more) => {
      put(write, more === 0 ? '' : `, the last of ${more} more`, true);
    },
    message.includes(HELLO_HANDLER) ? 1 : MOST_AT_ONCE,
  );
}

/** Where an error was thrown: different faults do not hide each other. */
function placeOf(error: unknown): string {
  return stackOf(error)?.own[0] ?? '';
}

export interface Stack {
  readonly head: string;
  readonly own: readonly string[];
  readonly ours: readonly string[];
}

export function stackOf(error: unknown): Stack | null {
  try {
    if (!isError(error) || typeof error.stack !== 'string') return null;
    const [head = '', ...frames] = error.stack.split(FRAME);
    return { head, own: frames.filter((frame) => !OURS.test(frame)), ours: frames.filter((frame) => OURS.test(frame)) };
  } catch {
    // A getter of the error has thrown.
    return null;
  }
}
