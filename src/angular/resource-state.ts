import { catchError, defer, endWith, filter, map, merge, of, takeWhile } from 'rxjs';
import type { Observable } from 'rxjs';
import { messageOf } from '../stream/end.js';
import { isOver } from '../peer/status.js';
import type { PeerStatus } from '../peer/status.js';
import { retrySafely } from '../peer/safe-retry.js';
import { reopenOnReconnect } from '../peer/operators/reopen.js';
import type { Peer } from '../peer/peer.js';
import { sharedByDefault, sharedOver } from '../peer/shared.js';
import type { OpenStream } from '../peer/shared.js';
import { observableFrom } from '../stream/input.js';

/**
 * The progress of a resource.
 *
 * | status         | the stream                                        | the value         |
 * | -------------- | ------------------------------------------------- | ----------------- |
 * | `idle`         | none: `params` returned `undefined`               | the default       |
 * | `loading`      | has not sent its first value                      | the default       |
 * | `resolved`     | sends values, or has completed                    | the newest        |
 * | `reconnecting` | has lost its socket, and opens again on the next  | the newest before |
 * | `reloading`    | is open again, and has not sent its first value   | the newest before |
 * | `error`        | has failed                                        | the newest before |
 */
export type MuxResourceStatus = 'idle' | 'loading' | 'resolved' | 'reconnecting' | 'reloading' | 'error';

/** The content of a resource. */
export interface ResourceState<T> {
  readonly status: MuxResourceStatus;
  readonly value: T;
  readonly error: Error | undefined;
}

/** A step from one state to the next. */
export type Change<T> = (state: ResourceState<T>) => ResourceState<T>;

/** The state of a resource whose stream is about to open. `held` is the state whose value stays, if any. */
export function opening<T>(held: ResourceState<T> | undefined, defaultValue: T): ResourceState<T> {
  const isFirst = held === undefined || held.status === 'idle' || held.status === 'loading';
  return isFirst
    ? { status: 'loading', value: defaultValue, error: undefined }
    : { status: 'reloading', value: held.value, error: undefined };
}

/**
 * Reads a stream that outlives its sockets, a shared one below all its readers. Emits the changes of its resource, and completes with the
 * stream.
 */
export function changesOf<T>(peer: Peer, open: OpenStream<T>, call: unknown, isShared: boolean): Observable<Change<T>> {
  const shared = sharedOver(isShared ? sharedByDefault(open) : open, peer);
  const over$ = peer.status$.pipe(filter(isOver));
  const safely$ = defer(() => observableFrom((shared ?? open)(call))).pipe(
    retrySafely('safe', () => ({ over$, mayRetry: !isOver(peer.status) })),
  );
  const read$ = (shared === undefined ? reopenOnReconnect(peer, { open: () => safely$ }) : safely$).pipe(
    map((value) => arrived(value)),
    endWith(completed),
    catchError((error: unknown) => of(failed(error))),
    endWith(null),
  );
  return merge(peer.status$.pipe(map(connection)), read$).pipe(takeWhile((change) => change !== null));
}

/** `reconnecting` while there is no socket any more, and `reloading` from the next socket on. */
function connection(now: PeerStatus): <T>(state: ResourceState<T>) => ResourceState<T> {
  const { state: socket } = now;
  const isLost = socket === 'waiting' || (socket === 'connecting' && now.last !== null);
  return (state) => {
    if (isLost && (state.status === 'resolved' || state.status === 'reloading')) return { ...state, status: 'reconnecting' };
    if (socket === 'open' && state.status === 'reconnecting') return { ...state, status: 'reloading' };
    return state;
  };
}

/** A value has come. */
export function arrived<T>(value: T): Change<T> {
  return () => ({ status: 'resolved', value, error: undefined });
}

function completed<T>(state: ResourceState<T>): ResourceState<T> {
  return { ...state, status: 'resolved' };
}

/** The stream has failed. */
export function failed(error: unknown): <T>(state: ResourceState<T>) => ResourceState<T> {
  return (state) => ({ ...state, status: 'error', error: asError(error) });
}

/** The error itself, or an Error around any other thrown value. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error), { cause: error });
}
