import { Decoder } from '@msgpack/msgpack';
import { ProtocolError } from '../wire/errors.js';
import { isPlainObject } from '../wire/plain-object.js';
import { withDoubledBoms } from './byte-order-mark.js';
import { emptyDictionary, mayBeIndex } from './index-keys.js';
import { TIMESTAMPS_ONLY } from './msgpack-timestamps.js';
import { malformed, prescan } from './prescan.js';
import type { PrescanLimits } from './prescan.js';

/** An encoder or decoder of @msgpack/msgpack is replaced after it has held more bytes, because it would keep them in memory. */
export const KEPT_BYTES = 1024 * 1024;

/** Decodes values within limits. The values share no memory with their message. */
export class MsgpackDecoder {
  #decoder = this.#newDecoder();
  /** Whether a key of the value that is being decoded has the {@link KEY_PREFIX}. */
  #keysPrefixed = false;

  /** @throws ProtocolError for bytes that are not one msgpack value or exceed a limit */
  decode(bytes: Uint8Array, limits: PrescanLimits): unknown {
    const { blobs, bomTexts } = prescan(bytes, limits);
    this.#keysPrefixed = false;
    const value = decodeScanned(this.#decoder, bomTexts === null ? bytes : withDoubledBoms(bytes, bomTexts));
    // A decoder keeps its last message alive.
    if (bytes.length > KEPT_BYTES) this.#decoder = this.#newDecoder();
    return blobs === 0 && !this.#keysPrefixed ? value : withOwnMemory(value, this.#keysPrefixed);
  }

  #newDecoder(): Decoder {
    return new Decoder({
      extensionCodec: TIMESTAMPS_ONLY,
      mapKeyConverter: (key) => {
        const text = textOrInteger(key);
        if (!mayBeIndex(text) && text.charCodeAt(0) !== 0) return text;
        this.#keysPrefixed = true;
        return KEY_PREFIX + text;
      },
    });
  }
}

// Possible index keys are decoded with this prefix. Later they move without it into an object in dictionary mode. The decoder itself
// would make an object that reserves memory for every index below the highest.
const KEY_PREFIX = '\0';

function textOrInteger(key: unknown): string {
  if (typeof key !== 'string' && !Number.isSafeInteger(key))
    throw malformed('expected text or an integer up to 2^53 - 1 as a key, got another value');
  return String(key);
}

function decodeScanned(decoder: Decoder, bytes: Uint8Array): unknown {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    if (cause instanceof ProtocolError) throw cause;
    throw malformed(`expected a value that can be decoded, got ${bytes.length} bytes that cannot: ${String(cause)}`, { cause });
  }
}

// The decoder returns views of the message. A receiver may keep or transfer them, or read their `buffer`.
function withOwnMemory(value: unknown, keysPrefixed: boolean): unknown {
  if (value instanceof Uint8Array) return value.slice();
  if (Array.isArray(value)) return value.map((item) => withOwnMemory(item, keysPrefixed));
  if (!isPlainObject(value)) return value;
  const keys = Object.keys(value);
  const whole = keysPrefixed && keys.some((key) => key.startsWith(KEY_PREFIX)) ? emptyDictionary() : value;
  for (const key of keys) {
    const name = whole !== value && key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : key;
    whole[name] = withOwnMemory(value[key], keysPrefixed);
  }
  return whole;
}
