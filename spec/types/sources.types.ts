import type { Observable } from 'rxjs';
import type { Signal } from '@angular/core';
import { injectCall, muxResource } from '../../src/angular.js';
import { answer, channel, client, contract, request, shared, stream, upload } from '../../src/contract.js';
import type { Items, ReplyInput } from '../../src/contract.js';
import { reopenOnReconnect, respond, withCredit } from '../../src/index.js';
import type { Input, NativeObservable, Peer, Source, Stream } from '../../src/index.js';
import { useCall, useStream, useSuspenseStream } from '../../src/react.js';
import type { StreamState } from '../../src/react.js';
import * as solid from '../../src/solid.js';
import * as svelte from '../../src/svelte.js';
import { replayable, topic } from '../../src/topics.js';
import type { Replayable, TopicItem } from '../../src/topics.js';
import { withProgress } from '../../src/uploads.js';
import * as vue from '../../src/vue.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

/** The Observable of browsers, in the form of its specification. */
interface DomObservable<T> {
  subscribe(observer?: DomObserver<T> | ((value: T) => void), options?: { signal?: AbortSignal }): void;
  takeUntil(notifier: unknown): DomObservable<T>;
  toArray(options?: { signal?: AbortSignal }): Promise<T[]>;
}
interface DomObserver<T> {
  next?: (value: T) => void;
  error?: (error: unknown) => void;
  complete?: () => void;
}

/** The same, as the types of a polyfill write it: without `void`. */
interface Polyfilled<T> {
  readonly subscribe: (observer: Partial<DomObserver<T>>, options?: { readonly signal?: AbortSignal | undefined }) => undefined;
}

interface Row {
  readonly id: number;
}
interface LongRow extends Row {
  readonly text: string;
}

declare const peer: Peer;
declare const rows: DomObservable<Row>;
declare const texts: DomObservable<string>;

/** The store of Svelte, and an output of Angular. */
interface Store<T> {
  subscribe(run: (value: T) => void): () => void;
}
interface Output<T> {
  subscribe(run: (value: T) => void): { unsubscribe(): void };
}
/** A client of a broker, and a bus of events. */
interface Broker {
  subscribe(channel: string): void;
}
interface Bus {
  subscribe(run: (event: Row) => void): void;
}
/** An actor of xstate without a symbol. */
interface Actor<T> {
  subscribe(observer: { next?: (snapshot: T) => void }): { unsubscribe(): void };
  start(): this;
}

export type Sources = [
  Expect<Accepts<Source<Row>, DomObservable<Row>>>,
  Expect<Accepts<Source<Row>, DomObservable<LongRow>>>,
  Expect<Accepts<Source<Row>, Polyfilled<Row>>>,
  Expect<Accepts<Source<Row>, NativeObservable<Row>>>,
  Expect<Accepts<Input<Row>, () => DomObservable<Row>>>,
  Expect<Accepts<Items<Row>, DomObservable<Row>>>,
  Expect<Accepts<ReplyInput<Row>, DomObservable<Row>>>,
];

export type Nonsense = [
  Refuse<Accepts<Source<LongRow>, DomObservable<Row>>>,
  Refuse<Accepts<Source<Row>, DomObservable<string>>>,
  Refuse<Accepts<Source<Row>, Store<Row>>>,
  Refuse<Accepts<Source<Row>, Output<Row>>>,
  Refuse<Accepts<Source<Row>, Broker>>,
  Refuse<Accepts<Source<Row>, Bus>>,
  Refuse<Accepts<Source<Row>, Actor<Row>>>,
  Refuse<Accepts<Source<Row>, { readonly '~effect/Effect': object; pipe(): unknown }>>,
  Refuse<Accepts<Source<Row>, object>>,
  Refuse<Accepts<Source<Row>, () => void>>,
  Refuse<Accepts<Source<Row>, number>>,
  Refuse<Accepts<Items<Row>, Row>>,
  Refuse<Accepts<ReplyInput<Row>, DomObservable<string>>>,
];

declare const open: Stream<Row, string>;

export const sent = [
  peer.open$<Row, string>('rows', { input: texts }),
  peer.open$<Row, string>('rows', { input: () => texts }),
  open.sendAll(texts),
  peer.streams$.pipe(respond(() => rows)),
  withProgress(peer, texts, () => undefined),
];
// @ts-expect-error The input is of another type.
void open.sendAll(rows);

const api = contract({
  one: request<void, Row>(),
  many: stream<void, Row>(),
  put: upload<void, string, Row>(),
  both: channel<void, string, Row>(),
});
const calls = client(peer, api);
export const answered = answer(api, { one: () => rows, many: () => rows, put: () => rows, both: () => rows });
export const called = [calls.put(undefined, texts), calls.put.promise(undefined, texts), calls.both(undefined, texts)];
// @ts-expect-error The items are of another type.
export const wrong = answer(contract({ many: stream<void, Row>() }), { many: () => texts });

const read = {
  reopened$: reopenOnReconnect(peer, { open: () => rows }),
  granted$: withCredit(8).grant(() => rows),
  spent$: withCredit(8).spend(open)(rows),
  topic$: topic(peer, (since: string | null) => (since === null ? items : items)),
  places$: topic(peer, (since: number | null) => [{ cursor: since ?? 0, value: row }]),
  calledTopic$: topic(peer, (since) => follow({ since })),
  replayed$: replayable(() => rows, { keep: 1 }),
  shared$: shared((id: number) => (id > 0 ? rows : rows))(1),
};
declare const items: DomObservable<TopicItem<Row>>;
declare const row: Row;
/** The call of a contract, whose cursor is a text. */
declare function follow(payload: { readonly since: string | null }): Observable<TopicItem<Row>>;

const shown = {
  react: useStream(() => rows),
  withDeps: useStream((id: number) => (id > 0 ? rows : rows), [1]),
  suspended: useSuspenseStream((id: number) => (id > 0 ? rows : rows), [1]),
  vue: vue.useStream(() => rows).value.value,
  svelte: svelte.useStream(() => rows),
  solid: solid.useStream(() => rows),
  angular: muxResource({ stream: () => rows }).value,
  withDefault: muxResource({ stream: () => rows, defaultValue: null as Row | null }).value,
};
export const made = [
  useCall(() => rows).call(),
  vue.useCall(() => rows).call(),
  svelte.useCall(() => rows).call(),
  solid.useCall(() => rows).call(),
  injectCall(() => rows).call(),
] satisfies Promise<Row>[];

export type ItemsKeepTheirType = [
  Expect<Equal<typeof read.reopened$, Observable<Row>>>,
  Expect<Equal<typeof read.granted$, Observable<Row>>>,
  Expect<Equal<typeof read.spent$, Observable<Row>>>,
  Expect<Equal<typeof read.topic$, Observable<Row>>>,
  Expect<Equal<typeof read.places$, Observable<Row>>>,
  Expect<Equal<typeof read.calledTopic$, Observable<Row>>>,
  Expect<Equal<typeof read.shared$, Observable<Row>>>,
  Expect<Equal<typeof read.replayed$, Replayable<Row>>>,
  Expect<Equal<typeof shown.react, StreamState<Row>>>,
  Expect<Equal<typeof shown.withDeps, StreamState<Row>>>,
  Expect<Equal<typeof shown.vue, Row | undefined>>,
  Expect<Equal<typeof shown.angular, Signal<Row | undefined>>>,
];
