import { Observable } from 'rxjs';
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
      const removes = new Set<Remove>();
      let over = false;
      subscriber.add(() => {
        if (!over) for (const remove of removes) remove();
      });
      return source.subscribe({
        next(peer) {
          const remove = hang(peer);
          removes.add(remove);
          void peer.closed.then(() => removes.delete(remove));
          subscriber.next(peer);
        },
        error(error) {
          over = true;
          subscriber.error(error);
        },
        complete() {
          over = true;
          subscriber.complete();
        },
      });
    });
}
