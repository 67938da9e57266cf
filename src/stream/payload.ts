import type { Codec, Message, PackedPayload } from '../wire/codec.js';
import { getOrMake } from '../util/collections.js';
import { ABSENT } from '../wire/frame.js';
import { checkedMessage, packedPayload } from '../wire/codec.js';
import { map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';

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
    return getOrMake(this.#encoded, codec, () => checkedMessage(codec, codec.encodePayload(this.value)));
  }

  /**
   * Returns a payload of another value, which is shared in the same way. An item of a topic stays one: followers that cannot receive it get
   * its cursor alone.
   *
   * @throws TypeError for `undefined`, which is no payload
   *
   * @example
   * ```ts
   * const rounded = price.with({ ...price.value, price: 13 });
   * ```
   */
  with<U>(value: U): SharedPayload<U> {
    return shared(value);
  }

  /** Returns the value, so that a payload or headers may hold a shared payload. Each codec then encodes it anew. */
  toJSON(): T {
    return this.value;
  }
}

// The bundler would rename a class that names itself.
function shared<T>(value: T): SharedPayload<T> {
  return new SharedPayload(value);
}

/**
 * Makes each value a {@link SharedPayload}: many streams that answer with one hot source then encode each value once. Place it before the
 * source is shared.
 *
 * @example
 * ```ts
 * const price$ = feed$.pipe(encodeOnce(), share());
 * server.peers$.pipe(mergeMap(({ streams$ }) => streams$.pipe(respond(() => price$)))).subscribe();
 * // 300 subscribers: one JSON.stringify for each price
 * ```
 */
export function encodeOnce<T>(): OperatorFunction<T, SharedPayload<T>> {
  return map((value) => shared(value));
}

/** A payload to send, encoded at the call. */
export interface EncodedPayload {
  /** The value as the caller passed it. */
  readonly source: unknown;
  /** The value for observers, without a shared payload around it; `ABSENT` for no payload. */
  readonly value: unknown;
  /** `null` for no payload. */
  readonly encoded: PackedPayload | null;
}

/**
 * Encodes a payload. `undefined` and `ABSENT` mean none.
 *
 * @throws TypeError for a value that the codec cannot represent
 */
export function encodedPayload(codec: Codec, source: unknown): EncodedPayload {
  if (source === undefined || source === ABSENT) return { source, value: ABSENT, encoded: null };
  if (source instanceof SharedPayload) return { source, value: source.value, encoded: source.encodedBy(codec) };
  return { source, value: source, encoded: packedPayload(codec, source) };
}

/** @throws TypeError for `undefined` and `ABSENT`, which mean no value */
export function checkValue(value: unknown): void {
  if (value === undefined || value === ABSENT) throw new TypeError(`expected a value to send, got ${String(value)}; null is a value`);
}
