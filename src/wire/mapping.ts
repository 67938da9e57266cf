import { describeReceived } from './describe-received.js';
import { ProtocolError } from './errors.js';
import { FIELDS, IN_ENVELOPE_ORDER, isId } from './fields.js';
import type { Field } from './fields.js';
import { ABSENT } from './frame.js';
import type { CompleteFrame, Frame } from './frame.js';
import { isPlainObject } from './plain-object.js';
import { violation } from './violation.js';

/**
 * Returns the envelope of a frame: an object with `type` and the fields that differ from their default. Every implementation writes them
 * in this order: `type`, `stream`, then alphabetical. Does not mutate the frame and copies no value.
 *
 * @example
 * ```ts
 * toMapping({ type: 'open', end: true, payload: null, stream: 1, more: false });
 * // { type: 'open', stream: 1, end: true, payload: null }
 * ```
 */
export function toMapping(frame: Frame): Record<string, unknown> {
  const mapping: Record<string, unknown> = {};
  for (const { key, fallback } of IN_ENVELOPE_ORDER) {
    const value = frame[key];
    if (value !== undefined && value !== fallback) mapping[key] = value;
  }
  return mapping;
}

/**
 * Returns the frame of a decoded envelope, with all twelve fields. Drops unknown keys and keeps an unknown `type`. A missing `payload`
 * becomes {@link ABSENT}. Only own keys count, and a key with the value `undefined` counts as missing.
 *
 * @throws ProtocolError when `mapping` is not a map, has no `type`, carries both `payload` and `fragment`, or has a field of a wrong
 *   type. The message names the field, the accepted and the received type, and the stream.
 *
 * @example
 * ```ts
 * fromMapping({ type: 'pong', nonce: 'a', later: 1 }).nonce;   // 'a'
 * fromMapping({ type: 'data', stream: 3, more: 1 });
 * // ProtocolError: stream 3: field 'more': expected a boolean, got 1
 * ```
 */
export function fromMapping(mapping: unknown): CompleteFrame {
  if (!isPlainObject(mapping)) throw new ProtocolError(`expected a map as the envelope, got ${describeReceived(mapping)}`);
  const envelope: Envelope = mapping;
  const type = take(envelope.type, FIELDS.type, envelope);
  if (type === undefined) throw wrong(envelope, `field 'type': expected ${FIELDS.type.expected}, got none`);
  const payload = take(envelope.payload, FIELDS.payload, envelope);
  const fragment = take(envelope.fragment, FIELDS.fragment, envelope);
  if (payload !== ABSENT && fragment !== null) throw wrong(envelope, `expected 'payload' or 'fragment', got both`);
  return {
    type,
    stream: plusZero(take(envelope.stream, FIELDS.stream, envelope)),
    payload,
    fragment,
    more: take(envelope.more, FIELDS.more, envelope),
    headers: take(envelope.headers, FIELDS.headers, envelope),
    end: take(envelope.end, FIELDS.end, envelope),
    trailers: take(envelope.trailers, FIELDS.trailers, envelope),
    code: plusZero(take(envelope.code, FIELDS.code, envelope)),
    reason: take(envelope.reason, FIELDS.reason, envelope),
    nonce: take(envelope.nonce, FIELDS.nonce, envelope),
    last_stream: plusZero(take(envelope.last_stream, FIELDS.last_stream, envelope)),
  };
}

type Envelope = { readonly [Key in keyof Frame]?: unknown };

// The caller passes the value: a read under a fixed name is several times faster than a read by key. Own keys are checked only if there
// is a value: a polluted prototype must not add a field to the envelope.
function take<T>(value: unknown, { key, accepts, expected, fallback }: Field<T>, envelope: Envelope): T {
  if (value === undefined || !Object.hasOwn(envelope, key)) return fallback;
  if (accepts(value)) return value;
  throw wrong(envelope, `field '${key}': expected ${expected}, got ${describeReceived(value)}`);
}

function plusZero(value: number | null): number | null {
  return value === 0 ? 0 : value;
}

function wrong(envelope: Envelope, text: string): ProtocolError {
  const stream = Object.hasOwn(envelope, 'stream') ? envelope.stream : null;
  return violation(isId(stream) ? stream : null, text);
}
