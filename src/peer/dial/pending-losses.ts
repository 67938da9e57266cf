import type { Loss } from '../../session/session-owner.js';
import type { CloseReason } from '../../wire/close-reason.js';

/** Counts the losses of sockets that are decided, but not followed yet. Streams fail in between, and their owners may close the peer. */
export class PendingLosses {
  #count = 0;

  get empty(): boolean {
    return this.#count === 0;
  }

  /** Returns a loss that counts until its `follow` runs. */
  add(reason: CloseReason, follow: () => void): Loss {
    this.#count++;
    return {
      reason,
      follow: () => {
        this.#count--;
        follow();
      },
    };
  }
}
