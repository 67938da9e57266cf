import { checkedMessage } from '../../wire/codec.js';
import type { Codec, Message } from '../../wire/codec.js';
import { ABSENT } from '../../wire/frame.js';
import { SharedPayload } from '../../stream/shared-payload.js';

/** A payload to send, encoded at the call. */
export interface EncodedPayload {
  /** The value as the caller passed it. */
  readonly source: unknown;
  /** The value for observers, without a shared payload around it; `ABSENT` for no payload. */
  readonly value: unknown;
  /** `null` for no payload. */
  readonly encoded: Message | null;
}

/**
 * Encodes a payload. `undefined` and `ABSENT` mean none.
 *
 * @throws TypeError for a value that the codec cannot represent
 */
export function encodedPayload(codec: Codec, source: unknown): EncodedPayload {
  if (source === undefined || source === ABSENT) return { source, value: ABSENT, encoded: null };
  if (source instanceof SharedPayload) return { source, value: source.value, encoded: source.encodedBy(codec) };
  return { source, value: source, encoded: checkedMessage(codec, codec.encodePayload(source)) };
}
