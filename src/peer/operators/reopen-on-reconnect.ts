import { concat, defer, filter, map, materialize, dematerialize, startWith, switchMap, tap } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import { checkFunction, checkObject } from '../../wire/check.js';
import { isMuxError } from '../../wire/any-error.js';
import { ConnectionLostError } from '../../wire/stream-errors.js';
import { ResetCode } from '../../wire/reset-code.js';
import { observableFrom } from '../stream/input.js';
import { Peer } from '../peer.js';
import { checkPeer } from '../check-peer.js';

/** How a subscription is resumed. */
export interface Reopen<T, C> {
  /** Where the first subscription starts. */
  readonly initial: C;
  /** Opens the stream from a cursor on. */
  readonly open: (cursor: C) => ObservableInput<T>;
  /** The cursor after a value. */
  readonly cursor: (value: T, cursor: C) => C;
}

/** A subscription that starts without a cursor, and has one after its first value. */
interface ReopenFromNothing<T, C, N extends null | undefined> {
  readonly initial: N;
  readonly open: (cursor: C | N) => ObservableInput<T>;
  readonly cursor: (value: T, cursor: C | N) => C;
}

/** A subscription whose stream begins in the same way each time. What is wrong beside an `initial` or a `cursor` is no fault of `open`. */
interface ReopenAlike<T> {
  readonly initial?: never;
  readonly open: () => ObservableInput<T>;
  readonly cursor?: never;
}

/**
 * A subscription that outlives its sockets: it is opened anew on each, from the cursor that the last value gave, or with
 * `open` alone in the same way each time. At a goaway it moves as soon as the replacement is open, while the old socket drains.
 *
 * Cold: each subscription opens streams of its own, from `initial` on. Completes when a stream does. Errors with whatever else a
 * stream errors, also with the loss of another peer, and with the reason of the last socket once the peer dials no more. So a
 * server that refuses for a moment after its restart ends the subscription, unless the call in `open` has `retry: 'safe'`.
 *
 * Types are inferred in the order `initial`, `open`, `cursor`. Where `initial` is `null` and `open` does not say what it takes,
 * that is `unknown`: write `open: (since: string | null) => …`.
 *
 * @throws TypeError for what is no peer, and for an `open` or a `cursor` that is no function
 *
 * @example
 * ```ts
 * reopenOnReconnect(peer, {
 *   initial: 0,
 *   open: (since) => peer.open$<Entry>({ op: 'log', since }, { retry: 'safe' }),
 *   cursor: (entry) => entry.seq,
 * }).subscribe(append);   // every entry once, where the server sends those after `since`
 *
 * reopenOnReconnect(peer, { open: () => peer.open$<number>({ op: 'price' }, { retry: 'safe' }) }).subscribe(show);
 * ```
 */
export function reopenOnReconnect<T, C, N extends null | undefined>(peer: Peer, how: ReopenFromNothing<T, C, N>): Observable<T>;
export function reopenOnReconnect<T>(peer: Peer, how: ReopenAlike<T>): Observable<T>;
export function reopenOnReconnect<T, C = undefined>(peer: Peer, how: Reopen<T, C>): Observable<T>;
export function reopenOnReconnect<T>(
  peer: Peer,
  how: {
    readonly initial?: unknown;
    readonly open: (cursor: unknown) => ObservableInput<T>;
    readonly cursor?: (value: T, cursor: unknown) => unknown;
  },
): Observable<T> {
  checkPeer('reopenOnReconnect', peer, 'status$');
  checkObject('reopenOnReconnect', how, '{ open }');
  const { initial, open, cursor = stay } = how;
  checkFunction('reopenOnReconnect.open', open);
  checkFunction('reopenOnReconnect.cursor', cursor);
  return defer(() => {
    let position = initial;
    /** Whether a stream has ended with its socket, and another is to be opened on the next. */
    let isLost = false;
    const sockets$ = peer.status$.pipe(filter((status) => status.state === 'open'));
    // Like any call the first is made at once, also while there is no socket: it waits, and is what a lazy peer dials for. So the first
    // socket is the one that it has, or gets.
    const openings$ = sockets$.pipe(
      filter((_, nth) => nth > 0 || isLost),
      startWith(null),
    );
    const stream$ = defer(() => observableFrom(open(position))).pipe(
      tap((value) => {
        position = cursor(value, position);
      }),
      materialize(),
      filter((notification) => {
        isLost = notification.kind === 'E' && endsWithSocket(notification.error, peer);
        return !isLost;
      }),
    );
    const closed$ = peer.status$.pipe(
      filter((status) => status.state === 'closed'),
      map(({ reason, error }) => ({ kind: 'E' as const, error: error ?? new ConnectionLostError(reason) })),
    );
    return concat(openings$.pipe(switchMap(() => stream$)), closed$).pipe(dematerialize());
  });
}

/** The cursor of a subscription that has none. */
function stay(_value: unknown, cursor: unknown): unknown {
  return cursor;
}

/**
 * Whether another socket may do better: this one was lost, or goes away, and resets at the end of its drain what is left. The
 * same error comes from another peer while this one goes on.
 */
function endsWithSocket(error: unknown, peer: Peer): boolean {
  // The status still says `open` while the streams of a lost socket are told.
  if (!isMuxError(error) || Peer.core(peer)?.openSession != null) return false;
  const { status } = peer;
  if (error.code === 'RESET') return error.resetCode === ResetCode.CANCEL && status.state === 'draining' && status.by === 'remote';
  return error.code === 'CONNECTION_LOST' || (error.code === 'REFUSED' && error.resetCode === null);
}
