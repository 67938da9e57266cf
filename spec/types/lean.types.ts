import type { Observable } from 'rxjs';
import { connect, hello, iterate, onStream, openWith, reconnect, reply, retryWhenSafe, send } from '../../src/lean.js';
import type { LeanConnectOptions, LeanPeer, LeanStream } from '../../src/lean.js';
import type { Peer, Stream } from '../../src/index.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

interface Row {
  readonly id: number;
}

declare const answering: LeanStream;

const peer = connect('wss://example.org/mux', {
  reconnect: reconnect({ maxDelayMs: 10_000 }),
  hello: hello(() => ({ payload: 'token' })),
});
const stream = peer.open<Row>('rows');
const answered = peer.request<Row>('row');
const rows$ = peer.open$<Row>('rows').pipe(retryWhenSafe());
const uploaded$ = openWith<Row, string>(peer, 'rows', { input: ['a', 'b'] });
const read = iterate(stream);
const sent = send(stream, { any: 'value' });
const remove = onStream(peer, ({ id }: Row, { headers }) => reply(answering, [id, headers]));

export type WhatIsReceived = [
  Expect<Equal<typeof peer, LeanPeer>>,
  Expect<Equal<typeof stream, LeanStream<Row>>>,
  Expect<Equal<typeof answered, Promise<Row>>>,
  Expect<Equal<typeof rows$, Observable<Row>>>,
  Expect<Equal<typeof uploaded$, Observable<Row>>>,
  Expect<Equal<typeof read, AsyncIterableIterator<Row>>>,
  Expect<Equal<typeof sent, Promise<void>>>,
  Expect<Equal<typeof remove, () => void>>,
  Expect<Equal<LeanPeer['opened'] extends Promise<infer P> ? P : never, LeanPeer>>,
];

export type WhatIsAccepted = [
  Expect<Accepts<Parameters<typeof reply>[0], Stream>>,
  Refuse<Accepts<LeanPeer, Peer>>,
  Refuse<Accepts<Peer, LeanPeer>>,
  Refuse<Accepts<LeanConnectOptions, { reconnect: true }>>,
  Refuse<Accepts<LeanConnectOptions, { hello: () => object }>>,
];
