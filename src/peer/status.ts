import { filter, firstValueFrom, map, ReplaySubject } from 'rxjs';
import type { Observable } from 'rxjs';
import type { CloseReason } from '../wire/close-reason.js';
import { ConnectionLostError } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';

/** Where a peer's connection is. Attempts count from 1 since the last stable socket; delays are ms. */
export type PeerStatus =
  | { readonly state: 'connecting'; readonly attempt: number; readonly last: CloseReason | null }
  | { readonly state: 'open'; readonly reconnects: number }
  | { readonly state: 'waiting'; readonly attempt: number; readonly delayMs: number; readonly last: CloseReason; readonly offline: boolean }
  | { readonly state: 'draining'; readonly by: 'local' | 'remote' }
  | { readonly state: 'closed'; readonly reason: CloseReason; readonly error: AnyMuxError | null };

/** Tells where a peer's connection is: now, at each change, and in promises. */
export class StatusTeller {
  readonly #status$ = new ReplaySubject<PeerStatus>(1);
  #now: PeerStatus = { state: 'connecting', attempt: 1, last: null };
  /** Made when asked for, and then always the same. */
  #closed: Promise<CloseReason> | null = null;

  constructor() {
    this.#status$.next(this.#now);
  }

  get now(): PeerStatus {
    return this.#now;
  }

  get status$(): Observable<PeerStatus> {
    return this.#status$.asObservable();
  }

  /** Resolves once the connection is open; rejects when the peer ends first. */
  get opened(): Promise<void> {
    const decided$ = this.#status$.pipe(filter(({ state }) => state === 'open' || state === 'closed'));
    return firstValueFrom(decided$).then((status) => {
      if (status.state === 'closed') throw status.error ?? new ConnectionLostError(status.reason);
    });
  }

  /** Resolves with the reason of the last socket; never rejects. */
  get closed(): Promise<CloseReason> {
    return (this.#closed ??= firstValueFrom(
      this.#status$.pipe(
        filter((status) => status.state === 'closed'),
        map(({ reason }) => reason),
      ),
    ));
  }

  set(status: PeerStatus): void {
    this.#now = status;
    this.#status$.next(status);
  }

  /** Nothing changes any more. */
  complete(): void {
    this.#status$.complete();
  }
}
