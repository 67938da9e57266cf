import type { Observable } from 'rxjs';
import { OrderedValue } from '../rx/values.js';
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
      /** The error of the last dial or of its hello; `null` if the peer was closed, or its socket lost. */
      readonly error: AnyMuxError | null;
    };

/** Whether a peer opens no more streams, because it was closed or its last socket has ended. */
export function isOver(status: PeerStatus): boolean {
  return status.state === 'closed' || (status.state === 'draining' && status.by === 'local');
}

/** Reports the state of a peer's connection: now, at each change, and in promises. It creates promises only on first use. */
export class StatusTracker extends OrderedValue<PeerStatus> {
  /** Created on first use, and the same from then on. */
  #closed: Promise<CloseReason> | null = null;
  /** Pending promises. Each function returns whether a status settles its promise. */
  #undecided: ((status: PeerStatus) => boolean)[] | null = null;

  constructor() {
    super({ state: 'connecting', attempt: 1, last: null }, 'status$');
  }

  get status$(): Observable<PeerStatus> {
    return this.value$;
  }

  /** Calls `opened` once the connection is open, or `failed` when the peer ends first. */
  whenOpened(opened: () => void, failed: (error: unknown) => void): void {
    this.#decide((status) => {
      if (status.state === 'open') opened();
      else if (status.state === 'closed') failed(status.error ?? new ConnectionLostError(status.reason));
      return status.state === 'open' || status.state === 'closed';
    });
  }

  /** Resolves with the reason of the last socket. Never rejects. */
  get closed(): Promise<CloseReason> {
    return (this.#closed ??= new Promise((resolve) => {
      this.#decide((status) => {
        if (status.state === 'closed') resolve(status.reason);
        return status.state === 'closed';
      });
    }));
  }

  protected override changed(status: PeerStatus): void {
    this.#undecided = this.#undecided?.filter((decides) => !decides(status)) ?? null;
  }

  #decide(decides: (status: PeerStatus) => boolean): void {
    if (decides(this.now)) return;
    (this.#undecided ??= []).push(decides);
  }
}
