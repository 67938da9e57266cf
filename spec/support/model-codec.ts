import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec } from '../../src/wire/codec.js';

/** Where a codec fails once: at the call that is given a value, or later, when its envelope is written. */
export type Break = 'payload' | 'envelope';

/** A codec that fails once when it is told to. Its class stays what it was, so that its frames are cut as ever. */
export interface Breakable {
  readonly codec: Codec;
  /** Where it fails next; `null` once it has. */
  next: Break | null;
}

const CODECS = { json: () => new JsonCodec(), msgpack: () => new MsgpackCodec() };

export type CodecName = keyof typeof CODECS;

export function breakable(name: CodecName): Breakable {
  const codec: JsonCodec | MsgpackCodec = CODECS[name]();
  const broken: Breakable = { codec, next: null };
  const check = (at: Break): void => {
    if (broken.next !== at) return;
    broken.next = null;
    throw new TypeError('the codec is broken');
  };
  const encodePayload: Codec['encodePayload'] = codec.encodePayload.bind(codec);
  const encodeWith = (codec as Required<Codec>).encodeWith.bind(codec);
  Object.assign<Codec, Partial<Codec>>(codec, {
    encodePayload(payload) {
      check('payload');
      return encodePayload(payload);
    },
    encodeWith(frame, encoded) {
      if (frame.type === 'open' || frame.type === 'data') check('envelope');
      return encodeWith(frame, encoded);
    },
  });
  return broken;
}
