import { hasOnlyPayload } from '../wire/frame.js';
import type { Frame, Metadata } from '../wire/frame.js';
import { ascii } from './ascii.js';
import { encodeFlat, readFlat } from './msgpack-flat.js';

// The envelope of an `open` or `data` frame with nothing but a payload and flat headers, as every implementation orders it. It is a map
// of 3 to 5: "type", the type, "stream", the id, (with an end: "end", true,) (with headers: "headers", the headers,) "payload", the payload.
const [FIXMAP, FIXSTR, TRUE] = [0x80, 0xa0, 0xc3];
const [UINT_8, UINT_16, UINT_32] = [0xcc, 0xcd, 0xce];
/** "type", "stream" and "payload". */
const LEAST_ENTRIES = 3;
const FIXINT_ABOVE = 0x80;
const STREAMS_ABOVE = 2 ** 32;

const TYPED = {
  data: bytes(...text('type'), ...text('data'), ...text('stream')),
  open: bytes(...text('type'), ...text('open'), ...text('stream')),
};
const ENDED = bytes(...text('end'), TRUE);
const HEADERS = bytes(...text('headers'));
const PAYLOAD = bytes(...text('payload'));
const NONE = bytes();

/** The fields of such an envelope, and the position of its payload. */
export interface CanonicalEnvelope {
  readonly type: 'open' | 'data';
  readonly stream: number;
  readonly end: boolean;
  readonly headers: Metadata | null;
  /** Items of the whole message except the items of the payload. */
  readonly items: number;
  readonly payloadAt: number;
}

/**
 * Encodes such an envelope around its payload, in half the time of encoding the map. `null` for every other frame.
 *
 * @example
 * ```ts
 * encodeCanonical({ type: 'data', stream: 1, end: true }, Uint8Array.of(0xc0));   // 84 a4 "type" a4 "data" a6 "stream" 01 …
 * encodeCanonical({ type: 'data', stream: 1, reason: 'r' }, Uint8Array.of(0xc0)); // null
 * ```
 */
export function encodeCanonical(frame: Frame, payload: Uint8Array): ArrayBuffer | null {
  const { type, stream, end, headers } = frame;
  if ((type !== 'data' && type !== 'open') || !hasOnlyPayload(frame)) return null;
  if (typeof stream !== 'number' || !(stream >= 0 && stream < STREAMS_ABOVE) || !Number.isInteger(stream)) return null;
  const typed = TYPED[type];
  const ended = end === true ? ENDED : NONE;
  const flat = headers == null ? NONE : encodeFlat(headers);
  if (flat === null) return null;
  const named = flat === NONE ? NONE : HEADERS;
  const length = 1 + typed.length + lengthOfId(stream) + ended.length + named.length + flat.length + PAYLOAD.length + payload.length;
  const message = new Uint8Array(length);
  message[0] = FIXMAP + LEAST_ENTRIES + Number(ended !== NONE) + Number(named !== NONE);
  let at = put(message, 1, typed);
  at = putId(message, at, stream);
  at = put(message, at, ended);
  at = put(message, at, named);
  at = put(message, at, flat);
  message.set(payload, put(message, at, PAYLOAD));
  return message.buffer;
}

/** Reads such an envelope, and nothing of the payload. `null` for every other message, which may be valid or not. */
export function readCanonical(message: Uint8Array): CanonicalEnvelope | null {
  const type = has(message, 1, TYPED.data) ? 'data' : has(message, 1, TYPED.open) ? 'open' : null;
  if (type === null) return null;
  const idAt = 1 + TYPED[type].length;
  const head = message[idAt] ?? 0;
  const idBytes = head < FIXINT_ABOVE ? 0 : head === UINT_8 ? 1 : head === UINT_16 ? 2 : head === UINT_32 ? 4 : -1;
  if (idBytes === -1) return null;
  let stream = idBytes === 0 ? head : 0;
  let at = idAt + 1;
  for (const idEnd = at + idBytes; at < idEnd; at++) stream = stream * 0x100 + (message[at] ?? 0);
  let entries = LEAST_ENTRIES;
  const end = has(message, at, ENDED);
  if (end) {
    entries++;
    at += ENDED.length;
  }
  let headers: Metadata | null = null;
  let items = 0;
  if (has(message, at, HEADERS)) {
    entries++;
    const flat = readFlat(message, at + HEADERS.length);
    if (flat === null) return null;
    ({ headers, items, to: at } = flat);
  }
  if (message[0] !== FIXMAP + entries || !has(message, at, PAYLOAD)) return null;
  return { type, stream, end, headers, items: items + 2 * entries, payloadAt: at + PAYLOAD.length };
}

function lengthOfId(id: number): number {
  return id < FIXINT_ABOVE ? 1 : id < 0x100 ? 2 : id < 0x10000 ? 3 : 5;
}

function putId(message: Uint8Array, at: number, id: number): number {
  const length = lengthOfId(id);
  let rest = id;
  for (let place = at + length - 1; place >= at; place--) {
    message[place] = rest % 0x100;
    rest = Math.floor(rest / 0x100);
  }
  if (length > 1) message[at] = length === 2 ? UINT_8 : length === 3 ? UINT_16 : UINT_32;
  return at + length;
}

function put(message: Uint8Array, at: number, part: Uint8Array): number {
  message.set(part, at);
  return at + part.length;
}

function has(message: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let n = 0; n < part.length; n++) if (message[at + n] !== part[n]) return false;
  return true;
}

function text(value: string): readonly number[] {
  return [FIXSTR | value.length, ...ascii(value)];
}

function bytes(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}
