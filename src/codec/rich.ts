import type { Message } from '../wire/codec.js';
import { ABSENT } from '../wire/frame.js';
import type { CompleteFrame, Frame } from '../wire/frame.js';
import { DEFAULT_LIMITS } from '../wire/limits.js';
import type { DecodeLimits } from '../wire/limits.js';
import { JsonCodec } from './json.js';
import { quote } from './json-text.js';
import { isTagless, mayHoldTags, tagged, taggedMetadata, untaggedMetadata, untaggedPayload, weighRich } from './rich-values.js';
import { weightOf } from './weight.js';

/**
 * The codec `rich`: the codec `json`, with a tagged form for values that JSON lacks. Every frame is one text message. A payload that needs
 * no tag has the same text as under `json`, and takes as long.
 *
 * Payloads, headers and trailers may hold these values beside the values of JSON:
 *
 * - `Date`, also an invalid one
 * - Map and Set, with keys and items of any kind, in their order
 * - bigint, of at most 4 096 digits
 * - `NaN`, the infinities and -0
 * - `undefined` as a property, an element, or in a Map or Set; an empty place of an array counts as `undefined`. An entry of headers or
 *   trailers that is `undefined` is left out
 * - bytes: any view or ArrayBuffer, which arrives as a `Uint8Array` with memory of its own
 *
 * A tagged value is an object whose only key is `$`, such as `{"$":["date",0]}`. An object of yours with that one key arrives unchanged,
 * because the encoder tags it too. The codec calls `toJSON` as JSON does, except on the values above. An object counts by its own
 * enumerable properties.
 *
 * The encoder throws a TypeError for functions, symbols, Promise, RegExp, Error and circular structures. It also does so for more than 256
 * levels of nesting, where a tag counts as two. The decoder throws a ProtocolError for a tag that it does not know, and for all that
 * `json` refuses.
 *
 * @example
 * ```ts
 * const codec = new RichCodec();
 * codec.encodePayload({ at: new Date(0), n: 1n });   // '{"at":{"$":["date",0]},"n":{"$":["bigint","1"]}}'
 * codec.decodePayload('{"$":["map","ACME",12.5]}');   // Map(1) { 'ACME' => 12.5 }
 * connect('wss://example.org/mux', { codec });        // the subprotocol is mux.v1.rich
 * ```
 */
export class RichCodec extends JsonCodec {
  override readonly name = 'rich';

  /** Keeps Vue from wrapping it in a Proxy: plain objects have another tag. */
  override get [Symbol.toStringTag](): string {
    return 'RichCodec';
  }

  /**
   * Encodes a frame.
   *
   * @throws TypeError for a payload, headers or trailers that the codec cannot represent, and for a fragment that is bytes
   */
  override encode(frame: Frame): string {
    return super.encode(withTags(frame));
  }

  /**
   * Encodes a frame around its payload's text, and does not read `frame.payload`.
   *
   * @throws TypeError as {@link encode} does, and for a payload that is bytes
   */
  override encodeWith(frame: Frame, encodedPayload: Message): string {
    return super.encodeWith(withTags(frame), encodedPayload);
  }

  /**
   * Returns the text before and behind a frame's payload, or its fragment.
   *
   * @throws TypeError as {@link encode} does
   */
  override encodeAround(frame: Frame): readonly [before: string, behind: string] {
    return super.encodeAround(withTags(frame));
  }

  /**
   * Decodes one text message.
   *
   * @param limits how many items the message may have; by default 1 000 000
   * @throws ProtocolError as `JsonCodec` does, and for a tag that the codec does not know. The message never quotes the text.
   */
  override decode(message: Message, limits: DecodeLimits = DEFAULT_LIMITS): CompleteFrame {
    const frame = super.decode(message, limits);
    const { payload, headers, trailers } = frame;
    // Texts and numbers hold no tag, so a long text needs no search. Nor does an absent payload.
    if (typeof payload !== 'object' && headers === null && trailers === null) return frame;
    if (!mayHoldTags(message)) return frame;
    untaggedMetadata(headers);
    untaggedMetadata(trailers);
    return payload === ABSENT ? frame : { ...frame, payload: untaggedPayload(payload) };
  }

  /**
   * Encodes a payload. It may read an own property several times, to check it and to write it.
   *
   * @throws TypeError for a value that the codec cannot represent; the message names its place
   */
  override encodePayload(payload: unknown): string {
    if (typeof payload === 'string') return quote(payload);
    return JSON.stringify(isTagless(payload) ? payload : tagged(payload));
  }

  /**
   * Decodes a reassembled payload.
   *
   * @param limits how many items it may have; by default 1 000 000
   * @throws ProtocolError as {@link decode} does
   */
  override decodePayload(data: Message, limits: DecodeLimits = DEFAULT_LIMITS): unknown {
    const payload = super.decodePayload(data, limits);
    return typeof payload === 'object' && mayHoldTags(data) ? untaggedPayload(payload) : payload;
  }

  /** Bytes of memory that a decoded payload takes, estimated from above. */
  override weigh(payload: unknown): number {
    return weightOf(payload, weighRich);
  }

  // A codec counts as another one if it overrides `encode` without these two.

  /** Whether an entry of headers arrives unchanged, as most text, numbers, booleans and `null` do. The key is never `__proto__`. */
  override carries(key: string, value: unknown): boolean {
    return super.carries(key, value);
  }

  /** Returns the bytes that a slice of a payload's text takes between quotes. */
  override fragmentCost(encodedPayload: Message, from: number, to: number): number {
    return super.fragmentCost(encodedPayload, from, to);
  }
}

/** Returns a frame whose headers and trailers JSON can write: the same frame, if they need no tag. */
function withTags(frame: Frame): Frame {
  if (frame.headers == null && frame.trailers == null) return frame;
  const headers = taggedMetadata(frame.headers, 'headers');
  const trailers = taggedMetadata(frame.trailers, 'trailers');
  return headers === frame.headers && trailers === frame.trailers ? frame : { ...frame, headers, trailers };
}
