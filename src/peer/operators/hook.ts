import { Observable, Subscription, tap } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Remove } from '../base/hooks.js';
import type { Peer } from '../peer.js';

/**
 * Adds a hook to every peer that passes. The hooks are removed when the subscription is ended by its subscriber, and
 * stay when the source completes: `of(peer)` completes at once, and a server's `peers$` before its peers are gone.
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

/** A hook that goes with its peer, so that nothing of a peer that has ended is kept. */
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
