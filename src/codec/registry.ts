import { optionError } from '../util/check.js';
import { checkedCodec } from '../wire/codec.js';
import type { Codec } from '../wire/codec.js';
import { CodecNotRegistered } from '../wire/errors.js';

const codecs = new Map<string, Codec>();

/**
 * Registers a codec for the whole process, under a name that `settings.codec` or a lookup may use. The registry keeps the instance
 * itself. A codec under the same name is replaced silently.
 *
 * @throws TypeError for a name that is no text, and for a value that is no codec, such as a class instead of its instance
 *
 * @example
 * ```ts
 * registerCodec('msgpack', new MsgpackCodec());
 * registeredCodecs();   // ['json', 'msgpack']
 * ```
 */
export function registerCodec(name: string, codec: Codec): void {
  if (typeof name !== 'string') throw optionError('registerCodec', 'a name, such as json', name);
  codecs.set(name, checkedCodec(codec));
}

/**
 * Returns the codec that is registered under a name. There is no fallback.
 *
 * @throws CodecNotRegistered with the name as `configured` and the registered names as `available`
 *
 * @example
 * ```ts
 * getCodec('json').binary;   // false
 * getCodec('cbor');          // CodecNotRegistered: no codec is registered under 'cbor' …
 * ```
 */
export function getCodec(name: string): Codec {
  const codec = codecs.get(name);
  if (codec === undefined) throw new CodecNotRegistered(name, registeredCodecs());
  return codec;
}

/**
 * Returns the registered names, sorted, in a new array at each call.
 *
 * @example
 * ```ts
 * registeredCodecs();   // ['json']
 * ```
 */
export function registeredCodecs(): string[] {
  return [...codecs.keys()].sort();
}

/**
 * Removes every registration, `json` included, so each lookup fails until a codec is registered. For tests.
 *
 * @example
 * ```ts
 * clearCodecs();
 * registeredCodecs();   // []
 * ```
 */
export function clearCodecs(): void {
  codecs.clear();
}
