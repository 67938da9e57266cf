import { getCodec, registerCodec } from 'rxmux';
import type { Codec } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';

registerCodec('msgpack', new MsgpackCodec());

/** Returns the codec with this name. An unknown name is an error that lists the registered names. */
export function chosenCodec(name: string): Codec {
  return getCodec(name);
}
