import { connect } from 'rxmux';
import { client } from 'rxmux/contract';
import { MsgpackCodec } from 'rxmux/msgpack';
import { api } from './api.ts';

const address = new URL('/mux', location.href);
address.protocol = address.protocol.replace('http', 'ws');

/** Uploads carry bytes, so the codec is msgpack. */
export const mux = connect(address, { codec: new MsgpackCodec(), lazy: true, reconnect: { maxDelayMs: 1_000 } });
export const calls = client(mux, api);

import.meta.hot?.dispose(() => void mux.close());
