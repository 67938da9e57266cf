import { isPlainTo } from '../wire/codec.js';
import type { Codec, Message } from '../wire/codec.js';
import { ProtocolError } from '../wire/errors.js';
import { ABSENT, V1_FRAME_TYPES, payloadFrame } from '../wire/frame.js';
import type { CompleteFrame, Frame, Metadata } from '../wire/frame.js';
import { MOST_BYTES_PER_UNIT, edgeBefore, encodeInto, encodedLength } from '../wire/length.js';
import { DEFAULT_LIMITS } from '../wire/limits.js';
import type { DecodeLimits } from '../wire/limits.js';
import { fromMapping } from '../wire/mapping.js';
import { MAX_DEPTH, carriesEntry, checkedJson, checkedMap, isBare, isFlat, isJsonReady } from './json-check.js';
import { hasMoreItems, isUnescaped, parseJson, quote } from './json-text.js';
import { isTooDeep, weightOf } from './weight.js';

// The start of a frame that opens a stream or carries data, as every implementation writes it. A number of that length is always a safe integer.
const HEAD = /\{"type":"(?:data|open)","stream":[1-9]\d{0,14}(?:,"end":true)?,"(?:payload":|headers":\{)/y;
const TYPE_AT = '{"type":"'.length;
const STREAM_AT = '{"type":"data","stream":'.length;
const PAYLOAD_KEY = ',"payload":';
/** Never part of a text in JSON, which escapes quotes. */
const HEADERS_END = `}${PAYLOAD_KEY}`;

const [COMMA, DIGIT_0, COLON, D, E, BRACE] = [0x2c, 0x30, 0x3a, 0x64, 0x65, 0x7d];
/** From the end of the id to the first letter of the next key. */
const AFTER_QUOTE = ',"'.length;

/**
 * Decodes the most common message: an `open` or `data` frame with nothing but a payload, or headers and a payload. Its keys have the order
 * of the protocol. Only the headers and the payload are parsed then, which is cheaper than parsing the envelope and checking its fields.
 *
 * @param maxDepth levels of nesting that headers or a payload may have
 * @returns `null` for any other message, which may be valid or not
 */
export function decodeCanonical(message: string, maxDepth: number): CompleteFrame | null {
  HEAD.lastIndex = 0;
  if (!HEAD.test(message) || message.charCodeAt(message.length - 1) !== BRACE) return null;
  const headTo = HEAD.lastIndex;
  const payloadAt = message.charCodeAt(headTo - 1) === COLON ? headTo : message.indexOf(HEADERS_END, headTo) + HEADERS_END.length;
  const headersText = payloadAt === headTo ? '' : message.slice(headTo - 1, payloadAt - PAYLOAD_KEY.length);
  const text = message.slice(payloadAt, -1);
  let headers: Metadata | null;
  let payload: unknown;
  try {
    // Where both are JSON, the message is JSON, and has these keys only.
    headers = payloadAt === headTo ? null : (JSON.parse(headersText) as Metadata);
    payload = parseJson(text);
  } catch {
    // The message holds more, or is invalid.
    return null;
  }
  if (isTooDeep(payload, maxDepth, text) || isTooDeep(headers, maxDepth, headersText)) return null;
  // Read by hand instead of by groups of the pattern: `exec` would make an array and three strings for every message.
  let at = STREAM_AT;
  let stream = 0;
  for (let digit = message.charCodeAt(at); digit !== COMMA; digit = message.charCodeAt(++at)) stream = stream * 10 + (digit - DIGIT_0);
  const type = message.charCodeAt(TYPE_AT) === D ? 'data' : 'open';
  return payloadFrame(type, stream, message.charCodeAt(at + AFTER_QUOTE) === E, payload, headers);
}

/**
 * Returns the bytes of a slice of JSON between the quotes of a JSON string, where its quotes and backslashes are escaped. Nothing else
 * needs an escape: JSON has already escaped control characters and halves of surrogate pairs.
 */
export function quotedLength(json: string): number {
  // Three native searches are many times faster than any loop or pattern.
  if (!json.includes('"') && !json.includes('\\') && encodedLength(json) === json.length) return json.length;
  let length = 0;
  for (let from = 0; from < json.length;) {
    const to = edgeBefore(json, Math.min(from + PIECE, json.length));
    length += pieceLength(json.slice(from, to));
    from = to;
  }
  return length;
}

function pieceLength(piece: string): number {
  const { written } = encodeInto(piece, BYTES);
  BYTES.fill(0, written, written + WORD_BYTES);
  let escapes = 0;
  for (let at = 0; at * WORD_BYTES < written; at++) {
    const word = Number(WORDS[at]);
    escapes += count(word ^ QUOTES) + count(word ^ BACKSLASHES);
  }
  return written + escapes;
}

/** Returns how many bytes of a word are zero. */
function count(word: number): number {
  // Sets the top bit of each zero byte, and no other bit.
  const zeros = ~(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS);
  return Math.imul(zeros >>> 7, 0x01010101) >>> 24;
}

const WORD_BYTES = 4;
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const LOW_BITS = 0x7f7f7f7f;
const PIECE = 1_024;
const BYTES = new Uint8Array(PIECE * MOST_BYTES_PER_UNIT + WORD_BYTES);
const WORDS = new Int32Array(BYTES.buffer);

/**
 * Writes headers of texts, numbers, booleans and `null`, as nearly all are, in two thirds of the time of `JSON.stringify`. It reads
 * each property once. `null` for all others, which may be valid or not.
 *
 * @example
 * ```ts
 * flatJson({ trace: 't1', attempt: 2 });   // '{"trace":"t1","attempt":2}'
 * flatJson({ tags: ['a'] });               // null
 * ```
 */
export function flatJson(metadata: Readonly<Metadata>): string | null {
  if (!isBare(metadata)) return null;
  let json = '';
  // `Object.keys` would make an array for each message.
  for (const key in metadata) {
    if (!Object.hasOwn(metadata, key)) continue;
    const entry = entryOf(key, metadata[key]);
    if (entry === null) return null;
    json += json === '' ? `{${entry}` : `,${entry}`;
  }
  return json === '' ? '{}' : `${json}}`;
}

function entryOf(key: string, value: unknown): string | null {
  // Nearly every entry. V8 makes an object for each piece that it joins: two calls of `quote` would make four more.
  if (typeof value === 'string' && isUnescaped(key) && isUnescaped(value)) return `"${key}":"${value}"`;
  return isFlat(value) ? `${quote(key)}:${typeof value === 'string' ? quote(value) : String(value)}` : null;
}

/**
 * The codec `json`: every frame is one text message, compact and with unescaped non-ASCII characters.
 *
 * Values are written as `JSON.stringify` writes them. It calls `toJSON`, so a `Date` is sent as its ISO text. It omits a property that is
 * `undefined`, and writes `null` for an `undefined` element. An object counts by its own enumerable properties.
 *
 * The encoder throws a TypeError for values that JSON would lose in silence: bytes, Map, Set, Promise, RegExp, Error, bigint, functions,
 * symbols, `NaN` and the infinities. It also throws for circular structures and for more than 256 levels of nesting. The decoder refuses
 * deeper nesting too, and more than `maxPayloadItems` items. Integers beyond 2^53 arrive rounded.
 *
 * @example
 * ```ts
 * const codec = new JsonCodec();
 * codec.encode({ type: 'data', stream: 1, payload: { at: new Date(0) }, end: true });
 * // '{"type":"data",…,"payload":{"at":"1970-01-01T00:00:00.000Z"}}'
 * codec.decode('{"type":"ping","nonce":"n1"}').nonce;   // 'n1'
 * codec.encodePayload(new Map());
 * // TypeError: codec 'json': expected a value it can carry at payload, got a Map: try Object.fromEntries(map) or rxmux/rich
 * ```
 */
export class JsonCodec implements Codec {
  /** `json`; a subclass may have another name. */
  readonly name: string = 'json';
  readonly binary = false;

  /** Keeps Vue from wrapping it in a Proxy: plain objects have another tag. */
  get [Symbol.toStringTag](): string {
    return 'JsonCodec';
  }

  /**
   * Encodes a frame. The result equals `JSON.stringify(toMapping(frame))` for values that JSON can represent.
   *
   * @throws TypeError for a payload, headers or trailers that JSON cannot represent, and for a fragment that is bytes
   */
  encode(frame: Frame): string {
    const { payload } = frame;
    return envelope(
      frame,
      payload === undefined || payload === ABSENT ? null : this.encodePayload(payload),
      quotedFragment(frame, this),
      this,
    );
  }

  /**
   * Encodes a frame around its payload's text, and does not read `frame.payload`.
   *
   * @throws TypeError as {@link encode} does, and for a payload that is bytes
   */
  encodeWith(frame: Frame, encodedPayload: Message): string {
    return envelope(frame, text(encodedPayload, 'the encoded payload', this), quotedFragment(frame, this), this);
  }

  /**
   * Returns the text before and behind a frame's payload, or its fragment.
   *
   * @throws TypeError as {@link encode} does
   */
  encodeAround(frame: Frame): readonly [before: string, behind: string] {
    const around = frame.fragment == null ? envelope(frame, HOLE, null, this) : envelope(frame, null, HOLE, this);
    return around.split(HOLE) as [string, string];
  }

  /**
   * Decodes one text message.
   *
   * @param limits how many items the message may have; by default 1 000 000
   * @throws ProtocolError for bytes, and for text that is not JSON, is not an object or exceeds a limit. Also for an envelope with a
   *   missing or wrong field. The message never quotes the text.
   */
  decode(message: Message, { maxPayloadItems }: DecodeLimits = DEFAULT_LIMITS): CompleteFrame {
    checkItems(message, maxPayloadItems, this);
    const frame = typeof message === 'string' ? decodeCanonical(message, MAX_DEPTH) : null;
    // The envelope adds one level around its payload.
    return frame ?? fromMapping(parse(message, MAX_DEPTH + 1, this));
  }

  /**
   * Encodes a payload. It may read an own property several times, to check it and to write it.
   *
   * @throws TypeError for a value that JSON cannot represent; the message names its place
   */
  encodePayload(payload: unknown): string {
    if (typeof payload === 'string') return quote(payload);
    return isJsonReady(payload, MAX_DEPTH) ? JSON.stringify(payload) : checkedJson(payload, 'payload');
  }

  /**
   * Decodes a reassembled payload.
   *
   * @param limits how many items it may have; by default 1 000 000
   * @throws ProtocolError for bytes, and for text that is not JSON or exceeds a limit; the message never quotes the text
   */
  decodePayload(data: Message, { maxPayloadItems }: DecodeLimits = DEFAULT_LIMITS): unknown {
    checkItems(data, maxPayloadItems, this);
    return parse(data, MAX_DEPTH, this);
  }

  /** Bytes of memory that a decoded payload takes, estimated from above. */
  weigh(payload: unknown): number {
    return weightOf(payload);
  }

  /** Whether an entry of headers arrives unchanged, as most text, numbers, booleans and `null` do. The key is never `__proto__`. */
  carries(key: string, value: unknown): boolean {
    return carriesEntry(key, value);
  }

  /** Returns the bytes that a slice of a payload's text takes between quotes. */
  fragmentCost(encodedPayload: Message, from: number, to: number): number {
    return quotedLength(text(encodedPayload, 'the encoded payload', this).slice(from, to));
  }
}

// Writes keys in the order of `toMapping`. Joining strings here costs four fifths of stringifying the mapping, for a frame of 100 bytes.
// The encoded payload and the quoted fragment go in unchanged.
function envelope(frame: Frame, payload: string | null, fragment: string | null, codec: JsonCodec): string {
  let json = V1_FRAME_TYPES.has(frame.type) ? `{"type":"${frame.type}"` : `{"type":${quote(frame.type)}`;
  if (frame.stream != null) json += `,"stream":${finite(frame.stream, 'stream', codec)}`;
  if (frame.code != null) json += `,"code":${finite(frame.code, 'code', codec)}`;
  if (frame.end === true) json += ',"end":true';
  if (fragment !== null) json += `,"fragment":${fragment}`;
  if (frame.headers != null) json += `,"headers":${metadata(frame.headers, 'headers')}`;
  if (frame.last_stream != null) json += `,"last_stream":${finite(frame.last_stream, 'last_stream', codec)}`;
  if (frame.more === true) json += ',"more":true';
  if (frame.nonce != null) json += `,"nonce":${quote(frame.nonce)}`;
  if (payload !== null) json += `,"payload":${payload}`;
  if (frame.reason != null) json += `,"reason":${quote(frame.reason)}`;
  if (frame.trailers != null) json += `,"trailers":${metadata(frame.trailers, 'trailers')}`;
  return `${json}}`;
}

/** A character that JSON always escapes. */
const HOLE = '\0';

function quotedFragment(frame: Frame, codec: JsonCodec): string | null {
  if (frame.fragment == null) return null;
  const fragment = text(frame.fragment, 'the fragment', codec);
  return isPlainTo(codec, frame) ? `"${fragment}"` : quote(fragment);
}

function metadata(value: Readonly<Metadata>, field: string): string {
  return flatJson(value) ?? checkedMap(value, field);
}

function finite(value: number, field: string, { name }: JsonCodec): number {
  if (Number.isFinite(value)) return value;
  throw new TypeError(`codec '${name}': expected a finite number as '${field}', got ${String(value)}`);
}

function text(message: Message, what: string, { name }: JsonCodec): string {
  if (typeof message === 'string') return message;
  throw new TypeError(`codec '${name}': expected ${what} as text, got ${message.byteLength} bytes`);
}

function checkItems(message: Message, most: number, { name }: JsonCodec): void {
  if (typeof message === 'string' && hasMoreItems(message, most))
    throw new ProtocolError(`codec '${name}': expected at most ${most} items (maxPayloadItems), got more`);
}

function parse(message: Message, levels: number, { name }: JsonCodec): unknown {
  if (typeof message !== 'string') throw new ProtocolError(`codec '${name}': expected text, got ${message.byteLength} bytes`);
  const value = parseText(message, name);
  if (isTooDeep(value, levels, message)) {
    // The envelope adds a level, which a user does not count.
    throw new ProtocolError(`codec '${name}': expected at most ${MAX_DEPTH} levels of nesting, got more`);
  }
  return value;
}

function parseText(message: string, codec: string): unknown {
  try {
    return parseJson(message);
  } catch {
    // The error has no cause: the message of the cause quotes the text.
    throw new ProtocolError(`codec '${codec}': expected JSON, got ${message.length} characters that are not`);
  }
}
