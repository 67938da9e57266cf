import { decode, encode, Tokenizer } from 'cborg';
import { ABSENT, DEFAULT_LIMITS, fromMapping, ProtocolError, toMapping } from 'rxmux';
import type { Codec, CompleteFrame, DecodeLimits, Frame, Message } from 'rxmux';

/** The codec `cbor` (RFC 8949): each frame is one binary message. Pass `codec: new CborCodec()` to `connect` and `serve`. */
export class CborCodec implements Codec {
  readonly name = 'cbor';
  readonly binary = true;

  encode(frame: Frame): ArrayBuffer {
    const { payload = ABSENT } = frame;
    return payload === ABSENT ? joined([encoded(toMapping(frame))]) : this.encodeWith(frame, this.encodePayload(payload));
  }

  encodeWith(frame: Frame, encodedPayload: Message): ArrayBuffer {
    const fields = Object.entries(toMapping({ ...frame, payload: null }));
    const parts = fields.flatMap(([key, value]) => [encoded(key), key === 'payload' ? bytesOf(encodedPayload) : encoded(value)]);
    return joined([Uint8Array.of(MAP + fields.length), ...parts]);
  }

  decode(message: Message, { maxPayloadItems }: DecodeLimits = DEFAULT_LIMITS): CompleteFrame {
    const mapping = decoded(message, maxPayloadItems) as { fragment?: unknown } | null;
    return fromMapping(mapping?.fragment instanceof Uint8Array ? { ...mapping, fragment: mapping.fragment.buffer } : mapping);
  }

  encodePayload(payload: unknown): ArrayBuffer {
    return joined([encoded(payload)]);
  }

  decodePayload(data: Message, { maxPayloadItems }: DecodeLimits = DEFAULT_LIMITS): unknown {
    return decoded(data, maxPayloadItems);
  }

  fragmentCost(_encodedPayload: Message, from: number, to: number): number {
    return to - from + headerBytes(to - from) - headerBytes(0);
  }
}

const MAP = 0xa0;

/** Bytes of the header of a byte string. */
function headerBytes(length: number): number {
  return length < 24 ? 1 : length < 2 ** 8 ? 2 : length < 2 ** 16 ? 3 : 5;
}

function encoded(value: unknown): Uint8Array {
  try {
    checkReadable(value, MAX_DEPTH);
    return encode(value, { mapSorter: () => 0, ignoreUndefinedProperties: true });
  } catch (cause) {
    throw new TypeError(`codec 'cbor': expected a value that CBOR can carry: ${String(cause)}`, { cause });
  }
}

/** How deep arrays and objects may be nested. More would exhaust the stack of a reader. */
const MAX_DEPTH = 256;

/** cborg writes maps with keys of any type, and any depth that its own stack holds. It reads neither, so they would end the connection. */
function checkReadable(value: unknown, levels: number): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  if (value instanceof Map) throw new TypeError('expected an object, got a Map');
  if (levels === 0) throw new RangeError(`expected at most ${MAX_DEPTH} levels of nesting`);
  for (const item of Object.values(value)) checkReadable(item, levels - 1);
}

function decoded(message: Message, maxItems: number): unknown {
  const bytes = bytesOf(message);
  try {
    return decode(bytes, { tokenizer: new LimitedTokenizer(bytes, maxItems) });
  } catch (cause) {
    throw new ProtocolError(`codec 'cbor': expected one item of CBOR, got ${bytes.length} bytes: ${String(cause)}`, { cause });
  }
}

/** An empty map takes a byte on the wire and many in memory, so items are counted before they are made. */
class LimitedTokenizer extends Tokenizer {
  constructor(
    bytes: Uint8Array,
    private itemsLeft: number,
  ) {
    super(bytes, { coerceUndefinedToNull: true });
  }

  override next(): ReturnType<Tokenizer['next']> {
    if (this.itemsLeft-- <= 0) throw new RangeError('too many items (maxPayloadItems)');
    return super.next();
  }
}

function bytesOf(message: Message): Uint8Array {
  if (typeof message === 'string') throw new ProtocolError(`codec 'cbor': expected bytes, got text`);
  return new Uint8Array(message);
}

/** A buffer of their own, and of exactly their length. */
function joined(parts: readonly Uint8Array[]): ArrayBuffer {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes.buffer;
}
