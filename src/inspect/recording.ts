import { optionError } from '../util/check.js';
import { fromJson, Omitted, sizeOf, toJson } from './json-values.js';

/** A line of a recording: a frame of a connection, and when it passed. A recording is a text with the JSON of one line in each row. */
export interface Line {
  /** The version of the form. */
  readonly v: 1;
  /** Time since the recording began, in ms. */
  readonly t: number;
  /** The connection, counted from 1. */
  readonly c: number;
  /** The direction: `>` from the dialer, `<` from the acceptor. */
  readonly d: '>' | '<';
  /** The frame as an envelope has it, which `toMapping` returns. `null` is a message that does not decode. */
  readonly f: RecordedFrame | null;
}

/** The envelope of a frame in a recording. Its content may be an {@link Omitted}. */
export type RecordedFrame = Readonly<Record<string, unknown>>;

/**
 * Returns a line as JSON, without a line break. Values that JSON lacks have these forms: bytes `{"$base64":"…"}`, dates `{"$date":ms}`,
 * numbers such as `NaN` `{"$number":"NaN"}`, big integers `{"$bigint":"…"}`. An object that looks like a form is `{"$object":{…}}`.
 *
 * @example
 * ```ts
 * writeLine({ v: 1, t: 3, c: 1, d: '>', f: { type: 'open', stream: 1, payload: new Uint8Array([1]) } });
 * // '{"v":1,"t":3,"c":1,"d":">","f":{"type":"open","stream":1,"payload":{"$base64":"AQ=="}}}'
 * ```
 */
export function writeLine(line: Line): string {
  return JSON.stringify({ ...line, f: toJson(line.f) });
}

/**
 * Reads a line that {@link writeLine} wrote. Bytes become a `Uint8Array`.
 *
 * @throws SyntaxError for a text that is no JSON; TypeError for JSON of another form
 *
 * @example
 * ```ts
 * readLine('{"v":1,"t":3,"c":1,"d":">","f":{"type":"open","stream":1}}').f;   // { type: 'open', stream: 1 }
 * ```
 */
export function readLine(text: string): Line {
  const value = JSON.parse(text) as unknown;
  if (!isLine(value)) throw new TypeError(`expected a line of a recording with v, t, c, d and f, got ${text.slice(0, SHOWN_LENGTH)}`);
  return { ...value, f: fromJson(value.f) as RecordedFrame | null };
}

/** Editors of Windows write it at the beginning of a file. */
const BYTE_ORDER_MARK = /^\ufeff/;

/**
 * Reads the lines of a recording.
 *
 * @throws TypeError for a value that is no text; SyntaxError or TypeError as {@link readLine} does, with the number of the line
 *
 * @example
 * ```ts
 * readLines(readFileSync('run.ndjson', 'utf8')).length;   // 12
 * ```
 */
export function readLines(text: string): readonly Line[] {
  if (typeof text !== 'string') throw optionError('recording', "a text, as readFileSync(path, 'utf8') returns", text);
  return text
    .replace(BYTE_ORDER_MARK, '')
    .split('\n')
    .flatMap((row, index) => (row.trim() === '' ? [] : readLineAt(index + 1, row)));
}

function readLineAt(number: number, row: string): Line {
  try {
    return readLine(row);
  } catch (error) {
    const message = `line ${number}: ${(error as Error).message}`;
    throw error instanceof SyntaxError ? new SyntaxError(message) : new TypeError(message);
  }
}

/**
 * Returns a line that keeps no content of the application: the payload, the fragment, headers and trailers become an {@link Omitted} with
 * their size.
 *
 * @example
 * ```ts
 * const line: Line = { v: 1, t: 3, c: 1, d: '>', f: { type: 'open', stream: 1, payload: 'secret' } };
 * withoutContent(line).f;   // { type: 'open', stream: 1, payload: Omitted { size: 6 } }
 * ```
 */
export function withoutContent(line: Line): Line {
  return omit(line, CONTENT);
}

/** Fields with values of the application. */
export const CONTENT: ReadonlySet<string> = new Set(['payload', 'fragment', 'headers', 'trailers']);

/** Returns a line that has only the sizes of some fields. */
export function omit(line: Line, fields: ReadonlySet<string>): Line {
  const { f } = line;
  if (f === null || fields.size === 0) return line;
  const kept = Object.entries(f).map(([key, value]) => [key, fields.has(key) ? new Omitted(sizeOf(value)) : value]);
  return { ...line, f: Object.fromEntries(kept) as RecordedFrame };
}

/** Whether the frame of a line still has its content. */
export function hasContent({ f }: Line): boolean {
  return f === null || !Object.values(f).some((value) => value instanceof Omitted);
}

/**
 * Describes a line for a person, on one row and without its payload.
 *
 * @example
 * ```ts
 * describeLine({ v: 1, t: 1500, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: 'ab' } });
 * // '1.500 #1 > open 1 2 units end'
 * ```
 */
export function describeLine({ t, c, d, f }: Line): string {
  const { type, stream, payload, fragment, ...rest } = f ?? { type: 'a message that does not decode' };
  const size = [payload, fragment].flatMap((part) => (part === undefined ? [] : `${sizeOf(part)} units`));
  const named = typeof type === 'string' ? type : 'a frame without a type';
  const id = stream === undefined ? [] : [typeof stream === 'number' ? stream : JSON.stringify(toJson(stream))];
  const fields = Object.entries(rest).map(([key, value]) => (value === true ? key : `${key}=${JSON.stringify(toJson(value))}`));
  return [`${(t / 1000).toFixed(3)} #${c} ${d}`, named, ...id, ...size, ...fields].join(' ');
}

const SHOWN_LENGTH = 60;

function isLine(value: unknown): value is Line {
  if (typeof value !== 'object' || value === null) return false;
  const { v, t, c, d, f } = value as Partial<Record<keyof Line, unknown>>;
  return (
    v === 1 && typeof t === 'number' && typeof c === 'number' && (d === '>' || d === '<') && typeof f === 'object' && !Array.isArray(f)
  );
}
