import type { Codec, Message } from '../wire/codec.js';
import { ProtocolError } from '../wire/errors.js';
import { isPlainTo } from '../wire/fragment-cost.js';
import { V1_FRAME_TYPES } from '../wire/frame-types.js';
import { ABSENT } from '../wire/frame.js';
import type { CompleteFrame, Frame, Metadata } from '../wire/frame.js';
import { DEFAULT_LIMITS } from '../wire/limits.js';
import type { DecodeLimits } from '../wire/limits.js';
import { fromMapping } from '../wire/mapping.js';
import { isTooDeep } from './depth.js';
import { carriesEntry } from './flat.js';
import { decodeCanonical } from './json-canonical.js';
import { MAX_DEPTH, checkedJson, checkedMap } from './json-check.js';
import { quotedLength } from './json-cost.js';
import { flatJson } from './json-flat.js';
import { hasMoreItems } from './json-items.js';
import { isJsonReady } from './json-ready.js';
import { parseJson, quote } from './json-text.js';
import { weightOf } from './weight.js';

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
 * // '{"type":"data","stream":1,"end":true,"payload":{"at":"1970-01-01T00:00:00.000Z"}}'
 * codec.decode('{"type":"ping","nonce":"n1"}').nonce;   // 'n1'
 * codec.encodePayload(new Map());
 * // TypeError: codec 'json': expected a value it can carry at payload, got a Map
 * ```
 */
export class JsonCodec implements Codec {
  readonly name = 'json';
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
    return envelope(frame, payload === undefined || payload === ABSENT ? null : this.encodePayload(payload), quotedFragment(frame, this));
  }

  /**
   * Encodes a frame around its payload's text, and does not read `frame.payload`.
   *
   * @throws TypeError as {@link encode} does, and for a payload that is bytes
   */
  encodeWith(frame: Frame, encodedPayload: Message): string {
    return envelope(frame, text(encodedPayload, 'the encoded payload'), quotedFragment(frame, this));
  }

  /**
   * Returns the text before and behind a frame's payload, or its fragment.
   *
   * @throws TypeError as {@link encode} does
   */
  encodeAround(frame: Frame): readonly [before: string, behind: string] {
    const around = frame.fragment == null ? envelope(frame, HOLE, null) : envelope(frame, null, HOLE);
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
    checkItems(message, maxPayloadItems);
    const frame = typeof message === 'string' ? decodeCanonical(message, MAX_DEPTH) : null;
    // The envelope adds one level around its payload.
    return frame ?? fromMapping(parse(message, MAX_DEPTH + 1));
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
    checkItems(data, maxPayloadItems);
    return parse(data, MAX_DEPTH);
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
    return quotedLength(text(encodedPayload, 'the encoded payload').slice(from, to));
  }
}

// Writes keys in the order of `toMapping`. Joining strings here costs four fifths of stringifying the mapping, for a frame of 100 bytes.
// The encoded payload and the quoted fragment go in unchanged.
function envelope(frame: Frame, payload: string | null, fragment: string | null): string {
  let json = V1_FRAME_TYPES.has(frame.type) ? `{"type":"${frame.type}"` : `{"type":${quote(frame.type)}`;
  if (frame.stream != null) json += `,"stream":${finite(frame.stream, 'stream')}`;
  if (frame.code != null) json += `,"code":${finite(frame.code, 'code')}`;
  if (frame.end === true) json += ',"end":true';
  if (fragment !== null) json += `,"fragment":${fragment}`;
  if (frame.headers != null) json += `,"headers":${metadata(frame.headers, 'headers')}`;
  if (frame.last_stream != null) json += `,"last_stream":${finite(frame.last_stream, 'last_stream')}`;
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
  const fragment = text(frame.fragment, 'the fragment');
  return isPlainTo(codec, frame) ? `"${fragment}"` : quote(fragment);
}

function metadata(value: Readonly<Metadata>, field: string): string {
  return flatJson(value) ?? checkedMap(value, field);
}

function finite(value: number, field: string): number {
  if (Number.isFinite(value)) return value;
  throw new TypeError(`codec 'json': expected a finite number as '${field}', got ${String(value)}`);
}

function text(message: Message, what: string): string {
  if (typeof message === 'string') return message;
  throw new TypeError(`codec 'json': expected ${what} as text, got ${message.byteLength} bytes`);
}

function checkItems(message: Message, most: number): void {
  if (typeof message === 'string' && hasMoreItems(message, most))
    throw new ProtocolError(`codec 'json': expected at most ${most} items (maxPayloadItems), got more`);
}

function parse(message: Message, levels: number): unknown {
  if (typeof message !== 'string') throw new ProtocolError(`codec 'json': expected text, got ${message.byteLength} bytes`);
  const value = parseText(message);
  if (isTooDeep(value, levels, message)) {
    // The envelope adds a level, which a user does not count.
    throw new ProtocolError(`codec 'json': expected at most ${MAX_DEPTH} levels of nesting, got more`);
  }
  return value;
}

function parseText(message: string): unknown {
  try {
    return parseJson(message);
  } catch {
    // The error has no cause: the message of the cause quotes the text.
    throw new ProtocolError(`codec 'json': expected JSON, got ${message.length} characters that are not`);
  }
}
