import { Subscription } from 'rxjs';
import type { Connectivity, Resume } from '../../transport/connectivity.js';
import { isLoopback } from './address.js';

/** The platform's reports about its network, for one dialing peer. */
export class Network {
  #resumes = Subscription.EMPTY;

  constructor(private readonly connectivity: Connectivity) {}

  /** Returns whether a dial to `address` would fail because there is no network. `null` is an address that is not known yet. */
  isOffline(address: string | null): boolean {
    return this.connectivity.offline && (address === null || !isLoopback(address));
  }

  /** Calls `resumed` from now on. A peer that never dials does not watch, and leaves no listener on its page. */
  watch(resumed: (resume: Resume) => void): void {
    this.#resumes = this.connectivity.resumes$.subscribe(resumed);
  }

  unwatch(): void {
    this.#resumes.unsubscribe();
  }
}
