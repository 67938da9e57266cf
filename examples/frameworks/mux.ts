import { scan } from 'rxjs';
import { connect } from 'rxmux';
import { client } from 'rxmux/contract';
import { MsgpackCodec } from 'rxmux/msgpack';
import { api } from './api.ts';
import type { Price } from './api.ts';

const address = new URL('/mux', location.href);
address.protocol = address.protocol.replace('http', 'ws');

/** Uploads carry bytes, so the codec is msgpack. */
export const mux = connect(address, { codec: new MsgpackCodec(), lazy: true, reconnect: { maxAttempts: Infinity, maxDelayMs: 1_000 } });
export const calls = client(mux, api);

type Table = ReadonlyMap<string, number>;

/** The whole table after each change. On a new socket it begins anew, with all prices. */
export const tables = () => {
  const merge = (table: Table, changes: readonly Price[]): Table =>
    new Map([...table, ...changes.map(({ symbol, cents }) => [symbol, cents] as const)]);
  return calls.prices(undefined, { retry: 'safe' }).pipe(scan(merge, new Map()));
};

const WORDS = { connecting: 'connecting', open: 'live', waiting: 'reconnecting', draining: 'moving', closed: 'offline' };

export function wordFor(status: typeof mux.status): string {
  return status.state === 'connecting' && status.last !== null ? WORDS.waiting : WORDS[status.state];
}

import.meta.hot?.dispose(() => void mux.close());
