import { Observable, defer } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { HandledRelay, Relay } from '../../rx/pipeline.js';
import type { Destination, RelayOwner } from '../../rx/pipeline.js';
import { observableFrom } from '../../stream/input.js';
import type { Source } from '../../stream/input.js';
import { checkFunction, checkObject, refuseUnknown } from '../../util/check.js';
import { ResetCode } from '../../wire/codes.js';
import { ConnectionLostError, isMuxError } from '../../wire/errors.js';
import { Peer } from '../peer.js';
import { checkPeer } from '../options.js';
import { retrySafely } from '../safe-retry.js';
import type { Retry } from '../safe-retry.js';
import type { PeerStatus } from '../status.js';

/** How to resume a subscription. */
export interface Reopen<T, C> {
  /** The cursor of the first subscription. */
  readonly initial: C;
  /** Opens the stream after a cursor. */
  readonly open: (cursor: C) => Source<T>;
  /** Returns the cursor after a value. */
  readonly cursor: (value: T, cursor: C) => C;
}

/** A subscription that starts without a cursor, and has one after its first value. */
export interface ReopenFromNothing<T, C, N extends null | undefined> {
  /** `null` or `undefined`: there is no cursor yet. */
  readonly initial: N;
  /** Opens the stream after a cursor, or without one. */
  readonly open: (cursor: C | N) => Source<T>;
  /** Returns the cursor after a value. */
  readonly cursor: (value: T, cursor: C | N) => C;
}

/**
 * A subscription whose stream begins in the same way each time. `never` makes TypeScript blame a stray `initial` or `cursor`, not
 * `open`.
 */
export interface ReopenAlike<T> {
  /** There is none without a `cursor`. */
  readonly initial?: never;
  /** Opens the stream. */
  readonly open: () => Source<T>;
  /** There is none without an `initial`. */
  readonly cursor?: never;
}

/**
 * Makes a subscription that outlives its sockets. It opens the stream again on each new socket, from the cursor of the last value. With
 * `open` alone it opens the stream in the same way each time. After a goaway it moves as soon as the replacement is open, while the old
 * socket drains.
 *
 * Cold: each subscription opens streams of its own, from `initial` on. It completes when a stream does. Once the peer stops dialing, it
 * errors with the reason of the last socket. It passes every other error of a stream, including the loss of another peer. A server that
 * refuses calls for a moment after its restart thus ends the subscription. To prevent that, the call in `open` needs `retry: 'safe'`.
 *
 * TypeScript infers types in the order `initial`, `open`, `cursor`. If `initial` is `null` and `open` does not annotate its parameter,
 * the parameter is `unknown`: write `open: (since: string | null) => …`.
 *
 * @throws TypeError unless `peer` is a peer, and `open` and `cursor` are functions
 *
 * @example
 * ```ts
 * reopenOnReconnect(peer, {
 *   initial: 0,
 *   open: (since) => peer.open$<Entry>({ op: 'log', since }, { retry: 'safe' }),
 *   cursor: (entry) => entry.seq,
 * }).subscribe(append);   // every entry once, if the server sends the entries after `since`
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
    readonly open: (cursor: unknown) => Source<T>;
    readonly cursor?: (value: T, cursor: unknown) => unknown;
  },
): Observable<T> {
  checkPeer('reopenOnReconnect', peer, 'status$');
  refuseUnknown('reopenOnReconnect', checkObject('reopenOnReconnect', how, '{ open }'), { initial: true, open: true, cursor: true });
  const { initial, open, cursor = stay } = how;
  checkFunction('reopenOnReconnect.open', open);
  // With an `initial` alone each stream would begin at the same place.
  checkFunction('reopenOnReconnect.cursor', initial === undefined ? cursor : how.cursor);
  return new Observable((subscriber) => {
    new Reopening(subscriber, peer, open, cursor, initial).start();
  });
}

/** One subscription of {@link reopenOnReconnect}: follows the status of the peer, and reads a stream on each of its sockets. */
export class Reopening<T> extends Relay<PeerStatus> implements RelayOwner<T> {
  /** The stream that is read; `null` once it has ended with its socket. */
  #reading: HandledRelay<T> | null = null;
  /** Whether a socket was open since {@link start}. The first stream belongs to the first socket. */
  #hadSocket = false;
  #isOver = false;

  constructor(
    to: Destination,
    protected readonly peer: Peer,
    protected readonly open: (cursor: unknown) => Source<T>,
    private readonly cursor: (value: T, cursor: unknown) => unknown,
    /** The cursor of the last value. */
    protected last: unknown,
  ) {
    super(to);
  }

  /** Like any call, the first one starts at once, even without a socket: it waits, and makes a lazy peer dial. */
  start(): void {
    this.#read();
    if (!this.closed) this.peer.status$.subscribe(this);
  }

  protected take({ state }: PeerStatus): void {
    if (state !== 'open') return;
    if (this.#hadSocket || this.#reading === null) this.#read();
    this.#hadSocket = true;
  }

  /** The peer opens no more sockets, and the last stream may still end by itself. */
  override complete(): void {
    this.#isOver = true;
    if (this.#reading !== null) return;
    const { status } = this.peer;
    if (status.state === 'closed') super.error(status.error ?? new ConnectionLostError(status.reason));
    else super.complete();
  }

  /** Passes a value on, and keeps its cursor. */
  received(value: T): void {
    this.last = this.cursor(value, this.last);
    this.to.next(value);
  }

  /** The stream has failed. If its socket has ended, another one may help. */
  failed(error: unknown): void {
    if (endsWithSocket(error, this.peer)) {
      this.#reading = null;
      if (this.#isOver) this.complete();
    } else this.error(error);
  }

  #read(): void {
    this.#reading?.unsubscribe();
    this.#reading = new HandledRelay(this.to, this);
    defer(() => observableFrom(this.open(this.last))).subscribe(this.#reading);
  }
}

/** The default `cursor`: it never moves. */
function stay(_value: unknown, cursor: unknown): unknown {
  return cursor;
}

/**
 * Whether another socket may help: this one was lost, or it drains after a goaway and resets its remaining streams. Another peer can
 * send the same error while this socket keeps working.
 */
function endsWithSocket(error: unknown, peer: Peer): boolean {
  // The status is still `open` while the streams of a lost socket receive their errors.
  if (!isMuxError(error) || Peer.core(peer)?.openConnection != null) return false;
  const { status } = peer;
  if (error.code === 'RESET') return error.resetCode === ResetCode.CANCEL && status.state === 'draining' && status.by === 'remote';
  return error.code === 'CONNECTION_LOST' || (error.code === 'REFUSED' && error.resetCode === null);
}

/**
 * Subscribes again after a `retriable` error, which says that the remote has done nothing. Any other error passes. So does an error of
 * another call that came in by this call's `input` or `onOpen`.
 *
 * Put this operator directly after a call, because it also repeats the operators between the call and itself. Each attempt sends
 * `input` again. An `input` that emits its values only once, such as a generator, must be made by a function. Otherwise the second
 * attempt fails with a TypeError.
 *
 * @throws TypeError unless `count` is a non-negative number, and `delay` such a number or a function
 *
 * @example
 * ```ts
 * peer.request$({ op: 'book', seat: '12A' }).pipe(retryWhenSafe()).subscribe(console.log);
 * // booked once, even if the server restarted meanwhile
 * ```
 */
export function retryWhenSafe<T>(options: Retry = {}): MonoTypeOperatorFunction<T> {
  checkObject('retryWhenSafe', options, '{ count, delay }');
  return retrySafely(options);
}
