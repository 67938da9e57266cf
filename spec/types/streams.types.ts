import type { Observable } from 'rxjs';
import type { CloseCause, Input, OpenOptions, Peer, Stream } from '../../src/index.js';
import { reopenOnReconnect, respond, through } from '../../src/index.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

interface Row {
  readonly id: number;
}

declare const peer: Peer;
declare const clicks$: Observable<MouseEvent>;

const rows = peer.open<Row, string>({ query: 'all' }, { end: false });
const rows$ = peer.open$<Row, string>('rows', { input: () => ['a', 'b'] });
const ranked$ = clicks$.pipe(through<Row>(peer, { op: 'rank' }));
const answered$ = peer.streams$.pipe(respond((name: string, stream: Stream<Row, number>) => [name.length, stream.id ?? 0]));
const dispatched$ = peer.streams$.pipe(
  respond(({ op }: { readonly op: string }) => {
    if (op === 'rows') return rows$;
    return op === 'ranks' ? [1, 2] : undefined;
  }),
);
const written$ = peer.streams$.pipe(
  respond(async (name: string, stream: Stream<Row, number>) => {
    await stream.send(name.length);
  }),
);
const plain = peer.open('anything');

export type WhatIsReceived = [
  Expect<Equal<typeof rows, Stream<Row, string>>>,
  Expect<Accepts<Observable<Row>, typeof rows>>,
  Expect<Accepts<AsyncIterable<Row>, typeof rows>>,
  Expect<Equal<typeof rows$, Observable<Row>>>,
  Expect<Equal<typeof ranked$, Observable<Row>>>,
  Expect<Equal<typeof answered$, Observable<never>>>,
  Expect<Equal<typeof dispatched$, Observable<never>>>,
  Expect<Equal<typeof written$, Observable<never>>>,
  Expect<Equal<typeof plain, Stream>>,
  Expect<Equal<ReturnType<typeof peer.request<Row>>, Promise<Row>>>,
  Expect<Equal<ReturnType<typeof peer.request$<Row>>, Observable<Row>>>,
];

export type WhatIsSent = [
  Expect<Equal<Parameters<typeof rows.send>[0], string>>,
  Expect<Equal<Parameters<typeof rows.reply>[0], string | undefined>>,
  Refuse<Accepts<Parameters<typeof rows.send>[0], number>>,
  Expect<Accepts<Input<string>, () => Observable<string>>>,
  Refuse<Accepts<Input<string>, Observable<number>>>,
];

export type StreamsAndPeersAreNotThenable = [
  Refuse<Accepts<PromiseLike<unknown>, Stream>>,
  Refuse<Accepts<PromiseLike<unknown>, Peer>>,
  Expect<Equal<Awaited<typeof rows>, Stream<Row, string>>>,
];

export type CausesNarrow = [
  Expect<Equal<CloseCause['how'], 'ended' | 'reset' | 'lost'>>,
  Expect<Equal<Extract<CloseCause, { readonly how: 'reset' }>['by'], 'user' | 'library' | 'remote'>>,
];

export type OptionsMayBeUndefined = [
  Expect<Accepts<OpenOptions, { readonly signal: undefined; readonly timeoutMs: undefined; readonly headers: undefined }>>,
  Expect<Accepts<OpenOptions, { readonly headers: { readonly traceId: string } }>>,
];

const reopened = {
  always: reopenOnReconnect(peer, { open: () => rows$ }),
  fromZero: reopenOnReconnect(peer, {
    initial: 0,
    open: (since) => peer.open$<Row>({ since: since.toFixed() }),
    cursor: (row, since) => Math.max(row.id, since),
  }),
  fromNull: reopenOnReconnect(peer, {
    initial: null,
    open: (since) => peer.open$<Row>({ since }),
    cursor: (row) => String(row.id),
  }),
  fromNullToText: reopenOnReconnect(peer, {
    initial: null,
    open: (since: string | null) => peer.open$<Row>({ since: since?.length }),
    cursor: (row, since) => `${since?.length ?? 0} ${row.id}`,
  }),
  fromUndefined: reopenOnReconnect(peer, {
    initial: undefined,
    open: (since: number | undefined) => peer.open$<Row>({ since: since?.toFixed() }),
    cursor: (row) => row.id,
  }),
  fromEither: reopenOnReconnect(peer, {
    initial: null as string | null,
    open: (since) => peer.open$<Row>({ since: since?.length }),
    cursor: (row) => String(row.id),
  }),
  asSaid: reopenOnReconnect<Row, string | null>(peer, {
    initial: null,
    open: (since) => peer.open$({ since: since?.length }),
    cursor: (row) => String(row.id),
  }),
};

export type ReopenedStreamsGiveWhatTheirCallsGive = [Expect<Equal<typeof reopened, Record<keyof typeof reopened, Observable<Row>>>>];
