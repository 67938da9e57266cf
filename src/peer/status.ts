import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { completeGuarded } from '../rx/subscribers.js';
import { HookList } from '../rx/values.js';
import type { CloseReason } from '../wire/codes.js';
import { ConnectionLostError } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';

/** The state of a peer's connection. Attempts count from 1 since the last stable socket; delays are in ms. */
export type PeerStatus =
  | {
      /** The peer has no open socket yet, or its hello is not answered. Calls wait. */
      readonly state: 'connecting';
      /** The number of this dial. */
      readonly attempt: number;
      /** Why the last socket ended, or the last dial failed; `null` before. */
      readonly last: CloseReason | null;
    }
  | {
      /** Calls are sent. */
      readonly state: 'open';
      /** The number of sockets before this one. */
      readonly reconnects: number;
    }
  | {
      /** The reconnect helper waits before it dials again (D1). Calls wait. */
      readonly state: 'waiting';
      /** The number of the next dial. */
      readonly attempt: number;
      /** The whole delay, in ms. */
      readonly delayMs: number;
      /** Why the last socket ended, or the last dial failed. */
      readonly last: CloseReason;
      /** Whether the platform reports no network. Then the delay is the longest one, and the return of the network ends it. */
      readonly offline: boolean;
    }
  | {
      /** Streams continue to their end, and this socket opens no more streams (C3). */
      readonly state: 'draining';
      /** `local` after `close()`. `remote` when the other side goes away; then calls wait if a replacement is dialed. */
      readonly by: 'local' | 'remote';
    }
  | {
      /** The peer has ended for good. */
      readonly state: 'closed';
      /** Why the last socket ended, or the last dial failed; `willRetry` is `false`. */
      readonly reason: CloseReason;
      /** The error of the last dial or of its hello, if the peer ended or was closed as it became known. Otherwise `null`. */
      readonly error: AnyMuxError | null;
    };

/** Whether a peer opens no more streams, because it was closed or its last socket has ended. */
export function isOver(status: PeerStatus): boolean {
  return status.state === 'closed' || (status.state === 'draining' && status.by === 'local');
}

/**
 * The state of a peer's connection: now, at each change, and in promises. It makes the Observable and promises on first use.
 *
 * In place of a BehaviorSubject: there, an observer that changes the status makes later observers receive the newer status before the older
 * one. Here all observers receive each status in order. A teardown that throws at the end does not hide the end from others.
 */
export class StatusTracker {
  #now: PeerStatus = { state: 'connecting', attempt: 1, last: null };
  #emitted = this.#now;
  readonly #subscribers = new HookList<Subscriber<PeerStatus>>();
  #status$: Observable<PeerStatus> | null = null;
  #isComplete = false;
  /** The status whose socket has ended. The next status follows once the streams have failed and `onClose` has run. */
  stale: PeerStatus | null = null;
  /** The statuses not emitted yet, while an emission is under way: a subscriber may change the status. */
  #waiting: PeerStatus[] | null = null;
  #closed: Promise<CloseReason> | null = null;
  /** Callers that wait for a status. Each function returns whether a status was the one. */
  #undecided: ((status: PeerStatus) => boolean)[] | null = null;

  get now(): PeerStatus {
    return this.#now;
  }

  get status$(): Observable<PeerStatus> {
    return (this.#status$ ??= new Observable((subscriber) => {
      // Add the subscriber first: it may change the status within `next`, and must receive that change too.
      subscriber.add(this.#subscribers.add(subscriber));
      subscriber.next(this.#emitted);
      if (this.#isComplete && this.#waiting === null) subscriber.complete();
    }));
  }

  /** Calls `opened` once the connection is open, or `failed` when the peer ends first. */
  whenOpened(opened: () => void, failed: (error: unknown) => void): void {
    this.#decide((status) => {
      if (status.state === 'open') opened();
      else if (status.state === 'closed') failed(status.error ?? new ConnectionLostError(status.reason));
      return status.state === 'open' || status.state === 'closed';
    });
  }

  /** Calls `closed` with the reason of the last socket, before any subscriber receives the status. */
  whenClosed(closed: (reason: CloseReason) => void): void {
    this.#decide((status) => {
      if (status.state === 'closed') closed(status.reason);
      return status.state === 'closed';
    });
  }

  /** Resolves with the reason of the last socket. Never rejects. Always the same promise. */
  get closed(): Promise<CloseReason> {
    return (this.#closed ??= new Promise((resolve) => {
      this.whenClosed(resolve);
    }));
  }

  /** All subscribers receive one status before any of them receives the next. */
  set(status: PeerStatus): void {
    this.#now = status;
    const isNested = this.#waiting !== null;
    (this.#waiting ??= []).push(status);
    // Each may change the status, or make another caller wait.
    for (const decides of this.#undecided?.splice(0) ?? []) if (!decides(status)) this.#decide(decides);
    if (isNested) return;
    for (const each of this.#waiting) {
      this.#emitted = each;
      for (const { hook: subscriber } of this.#subscribers.entries) subscriber.next(each);
    }
    this.#waiting = null;
    if (this.#isComplete) this.complete();
  }

  /** The peer has ended, and its status is final. Subscribers receive the end after the last status. */
  complete(): void {
    this.#isComplete = true;
    if (this.#waiting !== null) return;
    for (const { hook: subscriber } of this.#subscribers.entries) completeGuarded('a subscriber of status$', subscriber);
  }

  #decide(decides: (status: PeerStatus) => boolean): void {
    if (this.stale === this.#now || !decides(this.#now)) (this.#undecided ??= []).push(decides);
  }
}
