import { getCodec, registerCodec } from 'rxmux';
import type { Codec } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';

registerCodec('msgpack', new MsgpackCodec());

/** The codec of that name; a name that nobody has registered is an error which lists those that are. */
export function chosenCodec(name: string): Codec {
  return getCodec(name);
}
