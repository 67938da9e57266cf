/**
 * Options of TanStack Query 5, from a contract: for its hooks in each framework, and for its `QueryClient`.
 *
 * @example
 * ```ts
 * import { queries } from 'rxmux/tanstack';
 * ```
 *
 * @module rxmux/tanstack
 */
import type { DataTag, QueryClient } from '@tanstack/query-core';
import { tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { client } from './contract/client.js';
import type { Client, ClientOptions, RequestCall, StreamCall, UploadCall } from './contract/client.js';
import { isProcedure } from './contract/contract.js';
import type { Contract } from './contract/contract.js';
import { OPEN_NAMES } from './peer/calls.js';
import type { OpenOptions } from './peer/calls.js';
import { reopenOnReconnect } from './peer/operators/reopen.js';
import type { Peer } from './peer/peer.js';
import type { Input } from './stream/input.js';
import { checkFunction, checkOptions, optionError } from './util/check.js';
import type { NamesOf } from './util/check.js';
import { isMuxError } from './wire/errors.js';

export type {
  MutationOptions,
  NamesOfQueries,
  Queries,
  QueriesOf,
  QueriesOptions,
  QueryOptions,
  RequestQueries,
  StreamedOptions,
  StreamQueries,
};
export type { UploadQueries, UploadVariables };
export { VERSION } from './version.js';

/** Options of a query, as `useQuery`, `useSuspenseQuery` and `fetchQuery` take them. */
interface QueryOptions<Data> {
  /** The names of the procedure and its payload: `['rxmux', 'chat.lines', { room: 'all' }]`. */
  readonly queryKey: DataTag<readonly unknown[], Data>;
  /** Makes the call, or reads the stream. */
  readonly queryFn: (context: {
    readonly client: QueryClient;
    readonly queryKey: readonly unknown[];
    readonly signal: AbortSignal;
  }) => Promise<Data>;
  /** Tries again after errors of the connection alone: a declared error stays what it is. */
  readonly retry: (failures: number, error: unknown) => boolean;
  /** Of streams: `Infinity`, because the server sends each change. Pass 0 over data that a persister restores: no stream feeds them. */
  readonly staleTime?: number;
}

/** Options of a mutation, as `useMutation` takes them. */
interface MutationOptions<Variables, Data> {
  /** The names of the procedure: `['rxmux', 'book']`. */
  readonly mutationKey: readonly unknown[];
  /** Makes the call. */
  readonly mutationFn: (variables: Variables) => Promise<Data>;
}

/** How the values of a stream become the data of a query. */
interface StreamedOptions<Payload, Item, Data> extends Omit<OpenOptions<Item, never>, 'signal'> {
  /** Returns the data after one more value. Default: an array of all values. Bound what a long stream keeps. */
  readonly reducer?: ((data: Data, item: Item) => Data) | undefined;
  /** The data before the first value. Default: an empty array. */
  readonly initialValue?: Data | undefined;
  /**
   * Returns the payload that continues the stream after the data so far. Default: the next stream begins anew, and its first value takes
   * the place of the data, which stay until then.
   */
  readonly resume?: ((data: Data) => Payload) | undefined;
}

/** The options whose defaults do not fit the data: by default these are an array of the values, and begin empty. */
type Needed<Item, Data> = ([] extends Data ? unknown : { readonly initialValue: Data }) &
  (Item[] extends Data ? unknown : { readonly reducer: (data: Data, item: Item) => Data });

/** A call that has a key. */
interface NamesOfQueries<Payload> {
  /** The key of one payload, or without one of all: for `invalidateQueries` and filters. */
  queryKey(payload?: Payload): readonly unknown[];
}

/** A request, as queries and as mutations. */
interface RequestQueries<Payload, Reply> extends NamesOfQueries<Payload> {
  /** A query whose data are the reply. */
  queryOptions(payload: Payload, options?: Omit<OpenOptions<Reply, never>, 'signal'>): QueryOptions<Reply>;
  /** A mutation whose variables are the payload. */
  mutationOptions(options?: OpenOptions<Reply, never>): MutationOptions<Payload, Reply>;
}

/** A stream, as queries. */
interface StreamQueries<Payload, Item> extends NamesOfQueries<Payload> {
  /** A query whose data are the values so far, on each socket of the peer. It stays `fetching` until the stream completes. */
  streamedOptions<Data = readonly Item[]>(
    payload: Payload,
    options?: StreamedOptions<Payload, Item, Data> & Needed<Item, Data>,
  ): QueryOptions<Data>;
}

/** The variables of an upload. */
interface UploadVariables<Payload, In> {
  /** The payload of the call. */
  readonly payload: Payload;
  /** The values that the call sends after it. */
  readonly input: Input<In>;
}

/** An upload, as mutations. */
interface UploadQueries<Payload, In, Reply> {
  /** A mutation whose variables are `{ payload, input }`. */
  mutationOptions(options?: OpenOptions<Reply, never>): MutationOptions<UploadVariables<Payload, In>, Reply>;
}

/** The options of one call, or of the calls of a namespace. A channel has none. */
type QueriesOf<Call> =
  Call extends RequestCall<infer P, infer R>
    ? RequestQueries<P, R>
    : Call extends UploadCall<infer P, infer U, infer R>
      ? UploadQueries<P, U, R>
      : Call extends StreamCall<infer P, infer T>
        ? StreamQueries<P, T>
        : Call extends (...args: never) => unknown
          ? never
          : Queries<Call>;

/** The options of each call of a client, in the contract's own namespaces. */
type Queries<Calls> = { readonly [N in keyof Calls]: QueriesOf<Calls[N]> };

/** How the queries of a contract call, and what their keys begin with. */
interface QueriesOptions<V extends boolean = boolean> extends ClientOptions<V> {
  /** The first part of each key. Default `'rxmux'`. Two peers with one contract need two, or they would share their data. */
  readonly keyPrefix?: string | undefined;
}

/**
 * Makes the options of TanStack Query for each procedure of a contract: `queryOptions` and `mutationOptions` of a request,
 * `streamedOptions` of a stream, and `mutationOptions` of an upload.
 *
 * A query that nothing reads any more cancels its call, on the server too. A streamed query opens its stream again on each socket of the
 * peer, and keeps its values meanwhile. Payloads are parts of keys, so their values have to be plain.
 *
 * @throws TypeError for a `peer` that is no peer, an `api` that is no contract, and an unknown option
 *
 * @example
 * ```ts
 * const q = queries(peer, api);
 * useQuery(q.search.queryOptions({ term: 'ap' }));
 * useMutation(q.book.mutationOptions());
 * useQuery(q.lines.streamedOptions({ since: 0 }, { resume: (lines) => ({ since: lines.length }) }));
 * queryClient.invalidateQueries({ queryKey: q.search.queryKey() });
 * ```
 */
export function queries<C extends Contract, V extends boolean = false>(
  peer: Peer,
  api: C,
  options: QueriesOptions<V> = {},
): Queries<Client<C, V>> {
  const { keyPrefix = 'rxmux', ...rest } = options;
  if (typeof (keyPrefix as unknown) !== 'string') throw optionError('keyPrefix', 'text', keyPrefix);
  return queriesOf(peer, api, client(peer, api, rest), keyPrefix, '') as Queries<Client<C, V>>;
}

/** Names the options of a query, which has a signal of its own. */
const QUERY_NAMES: NamesOf<Omit<OpenOptions, 'signal'>> = { headers: true, timeoutMs: true, onOpen: true, retry: true };

type AnyCall = StreamCall<unknown, unknown> & RequestCall<unknown, unknown> & UploadCall<unknown, unknown, unknown>;
type AnyVariables = UploadVariables<unknown, unknown>;
type AnyCalls = Readonly<Record<string, unknown>>;

function queriesOf(peer: Peer, api: Contract, calls: AnyCalls, prefix: string, space: string): unknown {
  return Object.freeze(
    Object.fromEntries(
      Object.entries(api).map(([name, entry]) => [
        name,
        isProcedure(entry)
          ? optionsOf(peer, [prefix, space + name], calls[name] as AnyCall, entry.kind === 'upload')
          : queriesOf(peer, entry, calls[name] as AnyCalls, prefix, `${space}${name}.`),
      ]),
    ),
  );
}

/** @param parts what the keys of one procedure have in common: the prefix, and the name */
function optionsOf(peer: Peer, parts: readonly unknown[], call: AnyCall, isUpload: boolean): object {
  const queryKey = (payload?: unknown): readonly unknown[] => (payload === undefined ? parts : [...parts, payload]);
  return {
    queryKey,
    queryOptions: (payload: unknown, options: OpenOptions<unknown, never> = {}) => {
      checkOptions(options, QUERY_NAMES);
      return {
        queryKey: queryKey(payload),
        queryFn: ({ signal }: { readonly signal: AbortSignal }) => call.promise(payload, { ...options, signal }),
        // As often as TanStack Query retries by default.
        retry: (failures: number, error: unknown) => failures < 3 && isTransient(error),
      };
    },
    mutationOptions: (options: OpenOptions<unknown, never> = {}) => {
      checkOptions(options, OPEN_NAMES);
      return {
        mutationKey: queryKey(),
        mutationFn: (given: AnyVariables) => (isUpload ? call.promise(given.payload, given.input, options) : call.promise(given, options)),
      };
    },
    streamedOptions: (payload: unknown, options: StreamedOptions<unknown, unknown, unknown> = {}) => ({
      queryKey: queryKey(payload),
      queryFn: streamed(peer, call, payload, options),
      retry: (_: number, error: unknown) => isTransient(error),
      staleTime: Infinity,
    }),
  };
}

function streamed(
  peer: Peer,
  call: (payload: unknown, options: OpenOptions<unknown, never>) => Observable<unknown>,
  payload: unknown,
  {
    reducer = (data, item) => [...(data as readonly unknown[]), item],
    initialValue = [],
    resume,
    ...options
  }: StreamedOptions<unknown, unknown, unknown>,
): QueryOptions<unknown>['queryFn'] {
  checkOptions(options, QUERY_NAMES, { reducer: true, initialValue: true, resume: true });
  checkFunction('reducer', reducer);
  return ({ client: cache, queryKey, signal }) =>
    new Promise((resolve, reject) => {
      let data: unknown;
      const open = (): Observable<unknown> => {
        const held = resume && cache.getQueryData(queryKey);
        data = held === undefined ? initialValue : held;
        return call(held === undefined ? payload : resume?.(held), { ...options, signal });
      };
      const leave = (): void => {
        reading.unsubscribe();
        reject(signal.reason as Error);
        // The data age from now on, although their `staleTime` has no end: the next reader opens a stream.
        void cache.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
      };
      // Ahead of the call, which has the signal too, but not while the peer has no socket.
      signal.addEventListener('abort', leave);
      const reading = reopenOnReconnect(peer, { open })
        .pipe(tap((item) => cache.setQueryData(queryKey, (data = reducer(data, item)))))
        .subscribe({ error: reject, complete: () => resolve(data) });
      reading.add(() => signal.removeEventListener('abort', leave));
    });
}

/** Whether the same call may succeed later: the server refused it for now, or its socket was lost and the peer dials again. */
function isTransient(error: unknown): boolean {
  return isMuxError(error) && (error.retriable || (error.code === 'CONNECTION_LOST' && error.reason.willRetry));
}
