import { MsgpackCodec } from 'rxmux/msgpack';
import { rxmux } from './rxmux.js';

export const adapter = rxmux(() => new MsgpackCodec());
