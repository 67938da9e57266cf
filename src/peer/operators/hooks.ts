import { Observable, Subscription, map, mergeMap, tap } from 'rxjs';
import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import { checkFunction } from '../../util/check.js';
import type { CloseReason } from '../../wire/codes.js';
import type { FrameObserver, IncomingHeadersInterceptor, OpenInterceptor, Remove, ReplyHeadersInterceptor } from '../hooks.js';
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

/**
 * Calls `interceptor` with the headers of every call before an id is spent, for each peer of the source. The interceptor may change the
 * headers. Only unsubscribing removes the interceptor.
 *
 * @throws TypeError unless `interceptor` is a function
 *
 * @example
 * ```ts
 * serve(options).peers$.pipe(interceptOpen((headers) => { headers['x-node'] = 'a1'; })).subscribe();
 * ```
 */
export function interceptOpen(interceptor: OpenInterceptor): MonoTypeOperatorFunction<Peer> {
  checkFunction('interceptOpen', interceptor);
  return hook((peer) => peer.interceptOpen(interceptor));
}

/**
 * Calls `interceptor` with the headers of a peer's first frame on each stream of the remote, for each peer of the source. The
 * interceptor may change the headers. Only unsubscribing removes the interceptor.
 *
 * @throws TypeError unless `interceptor` is a function
 *
 * @example
 * ```ts
 * server.peers$.pipe(interceptReplyHeaders((headers, stream) => { headers['x-trace'] = stream.headers['x-trace']; })).subscribe();
 * ```
 */
export function interceptReplyHeaders(interceptor: ReplyHeadersInterceptor): MonoTypeOperatorFunction<Peer> {
  checkFunction('interceptReplyHeaders', interceptor);
  return hook((peer) => peer.interceptReplyHeaders(interceptor));
}

/**
 * Calls `interceptor` with the headers of the remote's first frame on every stream, for each peer of the source. Only unsubscribing
 * removes the interceptor.
 *
 * @throws TypeError unless `interceptor` is a function
 *
 * @example
 * ```ts
 * server.peers$.pipe(interceptIncomingHeaders((headers, stream) => { console.log(stream.id, headers); })).subscribe();
 * ```
 */
export function interceptIncomingHeaders(interceptor: IncomingHeadersInterceptor): MonoTypeOperatorFunction<Peer> {
  checkFunction('interceptIncomingHeaders', interceptor);
  return hook((peer) => peer.interceptIncomingHeaders(interceptor));
}

/**
 * Calls `observer` with every frame of each peer of the source. Only unsubscribing removes the observer.
 *
 * @throws TypeError unless `observer` is a function
 *
 * @example
 * ```ts
 * server.peers$.pipe(observeFrames((direction, frame) => { console.log(direction, frame.type); })).subscribe();
 * // rx open
 * // tx data
 * ```
 */
export function observeFrames(observer: FrameObserver): MonoTypeOperatorFunction<Peer> {
  checkFunction('observeFrames', observer);
  return hook((peer) => peer.onFrame(observer));
}

/** The end of a socket, and its peer. */
export interface PeerClose {
  /** The peer of the socket. */
  readonly peer: Peer;
  /** Why the socket ended. */
  readonly reason: CloseReason;
}

/**
 * Emits why each socket of each peer has ended, for all peers of the source.
 *
 * @example
 * ```ts
 * const server = createServer(); // of rxmux/testing; a server of rxmux/node has `peers$` too
 * server.peers$.pipe(closeReasons()).subscribe(({ reason }) => console.log(reason.code));
 * // 1000
 * ```
 */
export function closeReasons(): OperatorFunction<Peer, PeerClose> {
  return mergeMap((peer) => peer.closes$.pipe(map((reason) => ({ peer, reason }))));
}
