/** A line of a recording. */
export interface Line {
  /** The version of the form. */
  readonly v: 1;
  /** Time since the recording began, in ms. */
  readonly t: number;
  /** The connection, counted from 1. */
  readonly c: number;
  /** The direction: `>` from the dialer, `<` from the acceptor. */
  readonly d: '>' | '<';
  /** The frame. Bytes are `{"$base64": "…"}`, and dates `{"$date": ms}`. `null` is a message that does not decode. */
  readonly f: Readonly<Record<string, unknown>> | null;
}

/** Returns a line as JSON. Without payloads, `payload` and `fragment` become `{"$size": n}`. */
export function written({ f, ...line }: Line, payloads: boolean): string {
  const shown = f === null || payloads ? f : Object.fromEntries(Object.entries(f).map(([key, value]) => [key, shortened(key, value)]));
  return JSON.stringify({ ...line, f: writable(shown) });
}

/**
 * Reads one line.
 *
 * @throws SyntaxError for a line that is no JSON
 */
export function read(text: string): Line {
  return readable(JSON.parse(text)) as Line;
}

/** Describes a line for a person. */
export function shownLine({ t, c, d, f }: Line): string {
  const { type, stream, payload, fragment, ...rest } = f ?? { type: 'a message that does not decode' };
  const size = [payload, fragment].flatMap((part) => (part === undefined ? [] : `${sizeOf(part)} units`));
  const fields = Object.entries(rest).map(([key, value]) => (value === true ? key : `${key}=${JSON.stringify(writable(value))}`));
  return [`${(t / 1000).toFixed(3)} #${c} ${d}`, type, ...(stream === undefined ? [] : [stream]), ...size, ...fields].map(String).join(' ');
}

function shortened(key: string, value: unknown): unknown {
  return key === 'payload' || key === 'fragment' ? { $size: sizeOf(value) } : value;
}

/** The length of a text or of bytes; for another value, the length of its JSON. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  return JSON.stringify(writable(value)).length;
}

function writable(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $base64: Buffer.from(value).toString('base64') };
  if (value instanceof Date) return { $date: value.getTime() };
  return mapped(value, writable);
}

function readable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { $base64: bytes, $date: ms } = value as { readonly $base64?: string; readonly $date?: number };
  if (bytes !== undefined) return Uint8Array.from(Buffer.from(bytes, 'base64'));
  return ms === undefined ? mapped(value, readable) : new Date(ms);
}

function mapped(value: unknown, map: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, map(inner)]));
}
