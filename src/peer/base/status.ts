import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import type { CloseReason } from '../../wire/close-reason.js';
import { ConnectionLostError } from '../../wire/stream-errors.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { completeGuarded } from './guard.js';
import { HookList } from './hooks.js';

/** Where a peer's connection is. Attempts count from 1 since the last stable socket; delays are ms. */
export type PeerStatus =
  | {
      /** There is no open socket yet, or its hello is not answered. Calls wait. */
      readonly state: 'connecting';
      /** The number of this dial. */
      readonly attempt: number;
      /** Why the last socket ended, or the last dial failed; `null` before. */
      readonly last: CloseReason | null;
    }
  | {
      /** Calls are sent. */
      readonly state: 'open';
      /** The sockets before this one. */
      readonly reconnects: number;
    }
  | {
      /** The reconnect helper lets a delay pass before it dials again (D1). Calls wait. */
      readonly state: 'waiting';
      /** The number of the dial to come. */
      readonly attempt: number;
      /** The whole delay, in ms. */
      readonly delayMs: number;
      /** Why the last socket ended, or the last dial failed. */
      readonly last: CloseReason;
      /** Whether the platform reports no network. Then the delay is the longest, and the return of the network ends it. */
      readonly offline: boolean;
    }
  | {
      /** Streams go on to their end, and no more are opened on this socket (C3). */
      readonly state: 'draining';
      /** `local`: by `close()`; `remote`: the other side goes away, and calls wait where a replacement is dialed. */
      readonly by: 'local' | 'remote';
    }
  | {
      /** Nothing comes any more. */
      readonly state: 'closed';
      /** Why the last socket ended, or the last dial failed; `willRetry` is `false`. */
      readonly reason: CloseReason;
      /** What the last dial, or its hello, failed with; `null` where the peer was closed, or its socket lost. */
      readonly error: AnyMuxError | null;
    };

/** Whether a peer opens no streams any more, as it was closed or its last socket has ended. */
export function isOver(status: PeerStatus): boolean {
  return status.state === 'closed' || (status.state === 'draining' && status.by === 'local');
}

/** Tells where a peer's connection is: now, at each change, and in promises. What nobody asks for is not made. */
export class StatusTracker {
  #now: PeerStatus = { state: 'connecting', attempt: 1, last: null };
  #told: PeerStatus = this.#now;
  readonly #subscribers = new HookList<Subscriber<PeerStatus>>();
  #status$: Observable<PeerStatus> | null = null;
  #complete = false;
  /** What is still to be told, while somebody is being told; a subscriber may change the status. */
  #untold: PeerStatus[] | null = null;
  /** Made when somebody asks, and then always the same. */
  #closed: Promise<CloseReason> | null = null;
  /** Promises that are not decided yet; each says whether a status decides it. */
  #undecided: ((status: PeerStatus) => boolean)[] | null = null;

  get now(): PeerStatus {
    return this.#now;
  }

  get status$(): Observable<PeerStatus> {
    return (this.#status$ ??= new Observable((subscriber) => {
      // In this order: it may change the status as it is told, and has to be told of that.
      subscriber.add(this.#subscribers.add(subscriber));
      subscriber.next(this.#told);
      if (this.#complete && this.#untold === null) subscriber.complete();
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

  /** Resolves with the reason of the last socket; never rejects. */
  get closed(): Promise<CloseReason> {
    return (this.#closed ??= new Promise((resolve) => {
      this.#decide((status) => {
        if (status.state === 'closed') resolve(status.reason);
        return status.state === 'closed';
      });
    }));
  }

  set(status: PeerStatus): void {
    this.#now = status;
    this.#undecided = this.#undecided?.filter((decides) => !decides(status)) ?? null;
    if (this.#untold !== null) this.#untold.push(status);
    else if (this.#subscribers.empty) this.#told = status;
    else this.#tell(status);
  }

  /** Nothing changes any more. */
  complete(): void {
    this.#complete = true;
    if (this.#untold === null) this.#tellComplete();
  }

  /** Everybody is told of one status before anybody is told of the next. */
  #tell(status: PeerStatus): void {
    const untold = (this.#untold = [status]);
    for (const each of untold) {
      this.#told = each;
      for (const subscriber of this.#subscribers) subscriber.next(each);
    }
    this.#untold = null;
    if (this.#complete) this.#tellComplete();
  }

  #tellComplete(): void {
    for (const subscriber of this.#subscribers) completeGuarded('a subscriber of status$', subscriber);
  }

  #decide(decides: (status: PeerStatus) => boolean): void {
    if (decides(this.#now)) return;
    (this.#undecided ??= []).push(decides);
  }
}
