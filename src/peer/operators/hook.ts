import { Observable, Subscription, tap } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Remove } from '../hooks.js';
import type { Peer } from '../peer.js';

/**
 * Hangs a hook into every peer that passes. The hooks are removed when the subscription is ended by its subscriber, and
 * stay when the source completes: `of(peer)` completes at once, and a server's `peers$` before its peers are gone.
 */
export function hook(hang: (peer: Peer) => Remove): MonoTypeOperatorFunction<Peer> {
  return (source) =>
    new Observable((subscriber) => {
      const hung = new Subscription();
      return source
        .pipe(
          tap({
            next: (peer) => {
              hung.add(untilItsEnd(peer, hang));
            },
            unsubscribe: () => {
              hung.unsubscribe();
            },
          }),
        )
        .subscribe(subscriber);
    });
}

/** A hook that goes with its peer, so that nothing of a peer that has ended is kept. */
function untilItsEnd(peer: Peer, hang: (peer: Peer) => Remove): Subscription {
  const hung = new Subscription(hang(peer));
  hung.add(
    peer.status$.subscribe({
      complete: () => {
        hung.unsubscribe();
      },
    }),
  );
  return hung;
}
