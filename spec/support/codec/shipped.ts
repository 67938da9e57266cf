import { JsonCodec } from '../../../src/codec/json.js';
import { MsgpackCodec } from '../../../src/codec/msgpack.js';
import { RichCodec } from '../../../src/codec/rich.js';
import type { Codec } from '../../../src/wire/codec.js';

/** The shipped codecs, for `describe.each`. */
export const CODECS: readonly (readonly [name: string, codec: Codec])[] = [
  ['json', new JsonCodec()],
  ['msgpack', new MsgpackCodec()],
  ['rich', new RichCodec()],
];
