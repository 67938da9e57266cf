import { isError } from './wire/cross-realm.js';
import { isMuxError } from './wire/any-error.js';
import { oneLine } from './wire/quoted.js';

/** What a {@link logger} may be told to let through; each level lets through those after it, `silent` nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes to the console what its `level` lets through. */
export interface Logger {
  /** The threshold. Default `'warn'`; an unknown string at run time disables every level. */
  level: LogLevel;
  /** Whether a message of this level would be written. */
  isEnabledFor: (level: LogLevel) => boolean;
  /** Writes to `console.debug`: one line a frame, among others. Never a payload, as at any level. */
  debug: (message: string, ...rest: unknown[]) => void;
  /** Writes to `console.info`. */
  info: (message: string, ...rest: unknown[]) => void;
  /** Writes to `console.warn`. */
  warn: (message: string, ...rest: unknown[]) => void;
  /** Writes to `console.error`. */
  error: (message: string, ...rest: unknown[]) => void;
}

/**
 * The library's one logger. Extra values go to the console as they are.
 *
 * @example
 * ```ts
 * logger.level = 'debug';
 * logger.isEnabledFor('info');   // true
 * ```
 */
export const logger: Logger = {
  level: 'warn',
  isEnabledFor,
  debug: writer('debug'),
  info: writer('info'),
  warn: writer('warn'),
  error: writer('error'),
};

/**
 * Logs what the library itself has to say, in its name. A logger's methods can be replaced, and what an application put there
 * may throw: nothing goes wrong by it.
 *
 * @param message it may hold text of a remote, which is escaped
 * @param errors what was thrown, {@link showable}
 */
export function log(level: Exclude<LogLevel, 'silent'>, message: string, ...errors: readonly unknown[]): void {
  try {
    logger[level](`rxmux: ${oneLine(message, MOST_CHARACTERS)}`, ...errors.map(showable));
  } catch {
    // It was told; there is nobody left to tell.
  }
}

/**
 * An error as it may be logged: only its text where it, or a cause of it, holds the payload of a reset, which is the application's
 * alone, or a remote's text that one line cannot show.
 */
function showable(error: unknown): unknown {
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

/** Only errors of this library hold text of a remote. Those of an application may have several lines. */
function isUnsafe(error: Error): boolean {
  return isMuxError(error) && oneLine(error.message, MOST_CHARACTERS) !== error.message;
}

function textOf(error: Error): string {
  const text = error.stack ?? String(error);
  return isUnsafe(error) ? text.replace(error.message, () => oneLine(error.message, MOST_CHARACTERS)) : text;
}

/** Bounds what a remote's text can add to a line. */
const MOST_CHARACTERS = 2_000;

function isEnabledFor(level: LogLevel): boolean {
  const severity = severityOf(level);
  return severity !== null && severity >= (severityOf(logger.level) ?? Infinity);
}

// `null` for 'silent' and for a level that nobody knows: as a threshold they let nothing through. No Map, because every
// frame asks.
function severityOf(level: string): number | null {
  switch (level) {
    case 'debug':
      return 0;
    case 'info':
      return 1;
    case 'warn':
      return 2;
    case 'error':
      return 3;
    default:
      return null;
  }
}

function writer(level: Exclude<LogLevel, 'silent'>): (message: string, ...rest: unknown[]) => void {
  return (message, ...rest) => {
    if (!isEnabledFor(level)) return;
    try {
      console[level](message, ...rest);
    } catch {
      // A value that was thrown may refuse to be shown.
      console[level](message);
    }
  };
}
