import { map, materialize, merge, of, scan, takeWhile } from 'rxjs';
import type { Observable, ObservableNotification } from 'rxjs';
import type { PeerStatus } from '../peer/status.js';
import type { Peer } from '../peer/peer.js';

/**
 * Where a stream is in its life.
 *
 * | status | the stream |
 * | --- | --- |
 * | `connecting` | waits for the peer's first socket, or for the component's effect |
 * | `open` | is subscribed, and its peer is connected |
 * | `reconnecting` | lost its socket; the peer dials, and then the stream opens again |
 * | `complete` | has completed |
 * | `error` | has failed |
 */
export type StreamStatus = 'connecting' | 'open' | 'reconnecting' | 'complete' | 'error';

/** A stream as a component renders it. */
export interface StreamState<T> {
  /** The latest value; `undefined` before the first. It stays while the peer reconnects, and after the end. */
  readonly value: T | undefined;
  /** Why the stream has failed; `undefined` otherwise. */
  readonly error: unknown;
  /** The state of the stream. */
  readonly status: StreamStatus;
}

/** The state before a stream is subscribed, also where a server renders. */
export const CONNECTING: StreamState<never> = Object.freeze({ value: undefined, error: undefined, status: 'connecting' });

type Change<T> = (now: StreamState<T>) => StreamState<T>;

/** Subscribes to a stream, and emits its state after each change until its end. Never errors. */
export function statesOf<T>(stream$: Observable<T>, peer: Peer | null, initial: StreamState<T>): Observable<StreamState<T>> {
  const connection$ = peer === null ? of(opened) : peer.status$.pipe(map(connected));
  return merge<Change<T>[]>(connection$, stream$.pipe(materialize(), map(arrived))).pipe(
    scan((now, change) => change(now), initial),
    takeWhile(({ status }) => status !== 'complete' && status !== 'error', true),
  );
}

function arrived<T>(notification: ObservableNotification<T>): Change<T> {
  switch (notification.kind) {
    case 'N':
      return (now) => ({ ...now, value: notification.value });
    case 'C':
      return (now) => ({ ...now, status: 'complete' });
    case 'E':
      return (now) => ({ ...now, status: 'error', error: notification.error as unknown });
  }
}

function connected({ state }: PeerStatus): <T>(now: StreamState<T>) => StreamState<T> {
  switch (state) {
    case 'open':
      return opened;
    case 'connecting':
    case 'waiting':
      return interrupted;
    case 'draining':
    case 'closed':
      // The stream still flows, or reports its own end.
      return (now) => now;
  }
}

function opened<T>(now: StreamState<T>): StreamState<T> {
  return { ...now, status: 'open' };
}

function interrupted<T>(now: StreamState<T>): StreamState<T> {
  return now.status === 'connecting' ? now : { ...now, status: 'reconnecting' };
}
