import { Subscription, timer } from 'rxjs';
import type { ResolvedClose } from '../peer/base/close-options.js';
import type { Peer } from '../peer/peer.js';

/** The longest time over which goaways are spread, in ms. */
const LONGEST_SPREAD_MS = 5_000;

/** Closes many peers one after the other, over the first half of their drain. So they do not all dial the next server at once. */
export class SpreadGoaways {
  /** The goaways that are not sent yet. */
  #pending = new Subscription();

  /** Closes each of `peers`. Replaces the goaways of an earlier call that are not sent yet. */
  send(peers: ReadonlySet<Peer>, options: ResolvedClose): void {
    const { drainMs } = options;
    this.stop();
    this.#pending = new Subscription();
    const spread = Math.min(drainMs / 2, LONGEST_SPREAD_MS);
    let nth = 0;
    for (const peer of peers) {
      const wait = (spread * nth++) / peers.size;
      if (wait === 0) void peer.close(options);
      else this.#pending.add(timer(wait).subscribe(() => void peer.close({ ...options, drainMs: drainMs - wait })));
    }
  }

  stop(): void {
    this.#pending.unsubscribe();
  }
}
