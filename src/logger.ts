import { isError } from './util/check.js';
import { isMuxError } from './wire/errors.js';
import { oneLine } from './util/check.js';

/** The level of a {@link logger}. Each level also writes messages of the levels after it; `silent` writes none. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes messages to the console, from its `level` on. */
export interface Logger {
  /** The threshold. Default `'warn'`; an unknown string at run time disables every level. */
  level: LogLevel;
  /** Whether it writes messages of this level. */
  isEnabledFor: (level: LogLevel) => boolean;
  /** Writes to `console.debug`, for example one line a frame. Like every level, it never shows a payload. */
  debug: (message: string, ...rest: unknown[]) => void;
  /** Writes to `console.info`. */
  info: (message: string, ...rest: unknown[]) => void;
  /** Writes to `console.warn`. */
  warn: (message: string, ...rest: unknown[]) => void;
  /** Writes to `console.error`. */
  error: (message: string, ...rest: unknown[]) => void;
}

/** The logger, for code of the library. Users import it from `peer/debug-log.ts`, which adds the lines of peers. */
export const logger: Logger = {
  level: 'warn',
  isEnabledFor,
  debug: writer('debug'),
  info: writer('info'),
  warn: writer('warn'),
  error: writer('error'),
};

/**
 * Logs a message of the library, in the library's name. An application may have replaced a method of the logger; an error of such a
 * method is ignored.
 *
 * @param message may contain text of a remote, which is escaped
 * @param errors thrown values, made {@link showable}
 */
export function log(level: Exclude<LogLevel, 'silent'>, message: string, ...errors: readonly unknown[]): void {
  const write: WriteLine = (more = '', shown = showable) => {
    try {
      logger[level](`rxmux: ${oneLine(message, MOST_CHARACTERS)}${more}`, ...errors.map(shown));
    } catch {
      // No code is left to report this error to.
    }
  };
  if (bound === null) write();
  else bound(level, message, errors, write);
}

/**
 * Writes a line.
 *
 * @param more is added to the message
 * @param shown returns the value to log for a thrown value. Default {@link showable}.
 */
export type WriteLine = (more?: string, shown?: (error: unknown) => unknown) => void;

/** Decides which lines are written, since a remote can cause any number of them. */
type Bound = (level: Exclude<LogLevel, 'silent'>, message: string, errors: readonly unknown[], write: WriteLine) => void;

let bound: Bound | null = null;

/** Sets the function that decides which lines are written. Without it the log writes every line. */
export function boundLogs(decide: Bound): void {
  bound = decide;
}

/**
 * Makes an error safe to log. Returns only its text if it, or one of its causes, holds the payload of a reset, which belongs to the
 * application. Does the same for a remote's text that one line cannot show.
 */
export function showable(error: unknown): unknown {
  try {
    const chain = new Set<Error>();
    for (let each = error; isError(each) && !chain.has(each); each = each.cause) chain.add(each);
    const errors = [...chain];
    return errors.some(holdsPayload) || errors.some(isUnsafe) ? errors.map(textOf).join('\ncaused by: ') : error;
  } catch {
    return error;
  }
}

function holdsPayload(error: unknown): boolean {
  return isMuxError(error) && 'payload' in error && error.payload !== null;
}

/**
 * Whether an error holds text of a remote that one line cannot show. Only errors of this library hold such text; errors of an
 * application may have several lines.
 */
function isUnsafe(error: Error): boolean {
  return isMuxError(error) && oneLine(error.message, MOST_CHARACTERS) !== error.message;
}

function textOf(error: Error): string {
  const text = error.stack ?? String(error);
  return isUnsafe(error) ? text.replace(error.message, () => oneLine(error.message, MOST_CHARACTERS)) : text;
}

/** The longest text of a remote in a line. */
const MOST_CHARACTERS = 2_000;

function isEnabledFor(level: LogLevel): boolean {
  return (SEVERITIES[level] ?? NaN) >= (SEVERITIES[logger.level] ?? NaN);
}

/** `silent` and unknown levels have none. As thresholds they write nothing. */
const SEVERITIES: Readonly<Partial<Record<LogLevel, number>>> = { debug: 0, info: 1, warn: 2, error: 3 };

function writer(level: Exclude<LogLevel, 'silent'>): (message: string, ...rest: unknown[]) => void {
  return (message, ...rest) => {
    if (!isEnabledFor(level)) return;
    try {
      console[level](message, ...rest);
    } catch {
      // A thrown value may fail to convert to text.
      console[level](message);
    }
  };
}
