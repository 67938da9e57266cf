import { JsonCodec } from '../../../src/codec/json.js';
import { MsgpackCodec } from '../../../src/codec/msgpack.js';
import type { Codec } from '../../../src/wire/codec.js';

/** Both shipped codecs, for `describe.each`. */
export const CODECS: readonly (readonly [name: string, codec: Codec])[] = [
  ['json', new JsonCodec()],
  ['msgpack', new MsgpackCodec()],
];
