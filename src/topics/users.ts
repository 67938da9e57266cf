import { EMPTY, catchError, filter, share, takeUntil, tap } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import { log } from '../logger.js';
import { checkPeer } from '../peer/options.js';
import { notifyOrWarn, takesCalls } from '../peer/peers.js';
import type { Peer } from '../peer/peer.js';
import { guard } from '../rx/subscribers.js';
import { getOrMake } from '../util/collections.js';
import { channelOf, checkBus } from './bus.js';
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
  /**
   * Registers a connection of a user at this server. It ends with the peer, or when the result is unsubscribed. A connection that is registered
   * several times is one connection, until its last registration ends.
   */
  add(id: string, peer: Peer): Subscription;
  /** Returns all connections of a user, on every server. One that drains is left out, and one whose hello is not accepted. */
  toUser(id: string): Recipient;
}

/**
 * Finds users by their id on any server, over a bus: at most once. A server hears only of its own users.
 *
 * @throws TypeError for a bus that is none; `add` and `toUser` for an id that is no text of 1 to 1 000 bytes, and `add` for a peer that is none
 *
 * @example
 * ```ts
 * const users = usersOf(natsBus(nc));
 * server.peers$.subscribe((peer) => users.add(userOf(peer), peer));
 * await users.toUser('ann').notify({ op: 'news' });   // on each server that has a connection of ann
 * ```
 */
export function usersOf(bus: Bus): Users {
  checkBus('usersOf', bus);
  /** The payloads for each connection, by channel. All registrations of a connection share them, because a fresh hello may register it again. */
  const connections = new WeakMap<Peer, Map<string, Observable<unknown>>>();
  const notifying = (channel: string, peer: Peer): Observable<unknown> =>
    bus.on(channel).pipe(
      tap((payload) => {
        // A payload that the codec refuses must not end the process.
        if (takesCalls(peer)) guard(`notifying ${peer.toString()}`, () => notifyOrWarn(peer, payload));
      }),
      catchError((error: unknown) => {
        log('error', `${peer.toString()} is no longer reached as a user`, error);
        return EMPTY;
      }),
      takeUntil(closed(peer)),
      share(),
    );
  return {
    add(id, peer) {
      const channel = channelOfUser('add', id);
      checkPeer('add', peer, 'status$');
      const channels = getOrMake(connections, peer, () => new Map<string, Observable<unknown>>());
      return getOrMake(channels, channel, () => notifying(channel, peer)).subscribe();
    },
    toUser(id) {
      const channel = channelOfUser('toUser', id);
      return { notify: (payload) => bus.send(channel, payload) };
    },
  };
}

/** @throws TypeError for an id that is no text: people without an id would all be one user */
function channelOfUser(caller: string, id: unknown): string {
  return channelOf('user', caller, 'the id of a user', id);
}

/** Emits once a peer has closed for good. */
export function closed(peer: Peer): Observable<unknown> {
  return peer.status$.pipe(filter(({ state }) => state === 'closed'));
}
