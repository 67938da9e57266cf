import { MsgpackCodec } from 'rxmux/msgpack';
import { rxmux } from './rxmux.js';

const DEFAULT_MAX_ITEMS = 1_000_000;

export const adapter = rxmux(({ payloadItems = 0 }) => {
  const limits: Record<string, number> = payloadItems > DEFAULT_MAX_ITEMS ? { maxPayloadItems: payloadItems } : {};
  return { codec: new MsgpackCodec(limits), limits };
});
