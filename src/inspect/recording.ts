import { defaultLabel, labelled } from '../stream/label.js';
import { oneLine, optionError, quoted } from '../util/check.js';
import type { InspectorLine } from './batch.js';
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
 * numbers such as `NaN` `{"$number":"NaN"}`, big integers `{"$bigint":"…"}`, `undefined` `{"$undefined":true}`, a Map
 * `{"$map":[[key,value]]}`, a Set `{"$set":[item]}`. An object that looks like a form is `{"$object":{…}}`.
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
 * their size. The line is small, whatever the remote has sent. A text is cut after 100 UTF-16 units, and then ends with `…`. Any other
 * object becomes its size. Of more than 24 fields the first 24 stay.
 *
 * @example
 * ```ts
 * const line: Line = { v: 1, t: 3, c: 1, d: '>', f: { type: 'open', stream: 1, payload: 'secret' } };
 * withoutContent(line).f;   // { type: 'open', stream: 1, payload: Omitted { size: 6 } }
 * ```
 */
export function withoutContent(line: Line): Line {
  const { f } = line;
  if (f === null) return line;
  const kept = Object.entries(f)
    .slice(0, MOST_FIELDS)
    .map(([key, value]) => [shortened(key), CONTENT.has(key) ? new Omitted(sizeOf(value)) : small(value)]);
  return { ...line, f: Object.fromEntries(kept) as RecordedFrame };
}

/** Leaves out a slice of a payload, in which no part can be redacted. */
export function withoutSlice(line: Line): Line {
  const { f } = line;
  const slice = f?.['fragment'];
  return slice === undefined ? line : { ...line, f: { ...f, fragment: new Omitted(sizeOf(slice)) } };
}

/** Whether the frame of a line still has its content. */
export function hasContent({ f }: Line): boolean {
  return f === null || !Object.values(f).some((value) => value instanceof Omitted);
}

/** Whether a line takes more memory than {@link withoutContent} leaves of it. */
export function isLarge({ f }: Line): boolean {
  return f !== null && Object.values(f).some((value) => (typeof value === 'string' ? value.length > MOST_UNITS + 1 : isContent(value)));
}

/** Returns the beginning of a text. The result is a copy, because a slice would keep the whole message in memory. */
export function shortened(text: string): string {
  const begin = Array.from(text.slice(0, MOST_UNITS)).join('');
  return text.length > MOST_UNITS ? `${begin}…` : begin;
}

/** Fields with values of the application. */
const CONTENT: ReadonlySet<string> = new Set(['payload', 'fragment', 'headers', 'trailers']);
/** The longest text in a small line, in UTF-16 units. */
const MOST_UNITS = 100;
/** The protocol has twelve fields. */
const MOST_FIELDS = 24;

function small(value: unknown): unknown {
  if (typeof value === 'string') return shortened(value);
  return isContent(value) ? new Omitted(sizeOf(value)) : value;
}

function isContent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Omitted);
}

/**
 * Describes a line for a person, on one row of at most 1 000 characters and without its payload. An open has the name of its stream: the
 * line's `n`, or the {@link defaultLabel} of its payload. The size is the message's, if the line has `b`, and otherwise the size of the
 * payload as JSON. Texts of the remote are quoted, and cut after 100 characters; characters on which a terminal acts are escaped.
 *
 * @example
 * ```ts
 * describeLine({ v: 1, t: 1500, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: 'ab' } });
 * // '1.500 #1 > open 1 2 bytes end'
 * ```
 */
export function describeLine({ t, c, d, f, n, b }: InspectorLine): string {
  const { type, stream, payload, fragment, ...rest } = f ?? { type: 'a message that does not decode' };
  const name = n ?? (type === 'open' ? labelled(defaultLabel, payload) : '');
  const parts = [payload, fragment].filter((part) => part !== undefined);
  const sizes = parts.length > 0 && b !== undefined ? [b] : parts.map(sizeOf);
  const named = f === null ? type : typeof type === 'string' ? word(type) : 'a frame without a type';
  const id = stream === undefined ? [] : [shownValue(stream)];
  const fields = Object.entries(rest).map(([key, value]) => (value === true ? word(key) : `${word(key)}=${shownValue(value)}`));
  return oneLine(
    [`${(t / 1000).toFixed(3)} #${c} ${d}`, named, ...id, ...(name === '' ? [] : [quoted(name)]), ...sizes.map(shownSize), ...fields].join(
      ' ',
    ),
    LONGEST_ROW,
  );
}

const LONGEST_ROW = 1_000;
/** A text of another form could look like the other parts of a row. */
const WORD = /^[\w.-]{1,100}$/;

function word(text: string): string {
  return WORD.test(text) ? text : quoted(text);
}

function shownSize(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes} bytes`;
}

function shownValue(value: unknown): string {
  if (value instanceof Omitted) return shownSize(value.size);
  return typeof value === 'string' ? quoted(value) : oneLine(String(JSON.stringify(toJson(value))));
}

const SHOWN_LENGTH = 60;

function isLine(value: unknown): value is Line {
  if (typeof value !== 'object' || value === null) return false;
  const { v, t, c, d, f } = value as Partial<Record<keyof Line, unknown>>;
  return (
    v === 1 && typeof t === 'number' && typeof c === 'number' && (d === '>' || d === '<') && typeof f === 'object' && !Array.isArray(f)
  );
}
