import { checkValue } from '../peer/stream/check-value.js';
import { checkedMessage } from '../wire/codec.js';
import type { Codec, Message } from '../wire/codec.js';

/**
 * A payload for many streams, which each codec encodes only once. Send it like its value: with `notify`, `reply` or `send`, and from inputs
 * and answers. A codec encodes the value when it first sends the payload, so later changes to the value are not sent.
 *
 * @example
 * ```ts
 * const price = new SharedPayload({ symbol: 'ACME', price: 12.5 });
 * for (const stream of subscribers) void stream.send(price);   // one JSON.stringify for all of them
 * ```
 */
export class SharedPayload<T = unknown> {
  readonly #encoded = new Map<Codec, Message>();

  /** @throws TypeError for `undefined`, which is no payload */
  constructor(
    /** The value, as it was passed. */
    readonly value: T,
  ) {
    checkValue(value);
  }

  /**
   * Returns the encoded value.
   *
   * @throws TypeError for a value that the codec cannot represent
   */
  encodedBy(codec: Codec): Message {
    const known = this.#encoded.get(codec);
    if (known !== undefined) return known;
    const encoded = checkedMessage(codec, codec.encodePayload(this.value));
    this.#encoded.set(codec, encoded);
    return encoded;
  }

  /** Returns the value, so that a payload or headers may hold a shared payload. Each codec then encodes it anew. */
  toJSON(): T {
    return this.value;
  }
}
