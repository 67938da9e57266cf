import { Observable, Subscription, tap } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Remove } from '../hooks.js';
import type { Peer } from '../peer.js';

/**
 * Adds a hook to every peer of the source. Unsubscribing removes the hooks. Completion of the source does not: `of(peer)` completes at
 * once, and a server's `peers$` completes before its peers close.
 */
export function hook(register: (peer: Peer) => Remove): MonoTypeOperatorFunction<Peer> {
  return (source) =>
    new Observable((subscriber) => {
      const hooks = new Subscription();
      return source
        .pipe(
          tap({
            next: (peer) => {
              hooks.add(hookUntilClosed(peer, register));
            },
            unsubscribe: () => {
              hooks.unsubscribe();
            },
          }),
        )
        .subscribe(subscriber);
    });
}

/** Adds a hook that is removed when its peer closes, so that no closed peer stays in memory. */
function hookUntilClosed(peer: Peer, register: (peer: Peer) => Remove): Subscription {
  const hooks = new Subscription(register(peer));
  hooks.add(
    peer.status$.subscribe({
      complete: () => {
        hooks.unsubscribe();
      },
    }),
  );
  return hooks;
}
