import { filter, takeUntil } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import { log } from '../logger.js';
import { notifyOrWarn } from '../peer/notify-or-warn.js';
import type { Peer } from '../peer/peer.js';
import type { Bus } from './bus.js';

/** All connections of one user, on any server. */
export interface Recipient {
  /**
   * Notifies every connection of the user at most once. Resolves once the broker has the payload, and never says who received it. A user
   * without a connection misses it.
   */
  notify(payload: unknown): Promise<void>;
}

/** The users of all servers. */
export interface Users {
  /** Registers a connection of a user at this server. It ends with the peer, or when the result is unsubscribed. */
  add(id: string, peer: Peer): Subscription;
  /** Returns all connections of a user, on every server. */
  toUser(id: string): Recipient;
}

/**
 * Finds users by their id on any server, over a bus: at most once. A server hears only of its own users.
 *
 * @example
 * ```ts
 * const users = usersOf(natsBus(nc));
 * server.peers$.subscribe((peer) => users.add(userOf(peer), peer));
 * await users.toUser('ann').notify({ op: 'news' });   // on each server that has a connection of ann
 * ```
 */
export function usersOf(bus: Bus): Users {
  const channelOf = (id: string): string => `user:${id}`;
  return {
    add: (id, peer) =>
      bus
        .on(channelOf(id))
        .pipe(takeUntil(closed(peer)))
        .subscribe({
          next: (payload) => {
            notifyOrWarn(peer, payload);
          },
          error: (error: unknown) => {
            log('error', `${peer.toString()} is no longer reached as a user`, error);
          },
        }),
    toUser: (id) => ({ notify: (payload) => bus.send(channelOf(id), payload) }),
  };
}

/** Emits once a peer has closed for good. */
export function closed(peer: Peer): Observable<unknown> {
  return peer.status$.pipe(filter(({ state }) => state === 'closed'));
}
