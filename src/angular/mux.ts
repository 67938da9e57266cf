import { DestroyRef, inject, InjectionToken, makeEnvironmentProviders, NgZone, PLATFORM_ID } from '@angular/core';
import type { EnvironmentProviders, Signal } from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import type { PeerStatus } from '../peer/status.js';
import { connect } from '../peer/connect.js';
import type { ConnectOptions } from '../peer/connect.js';
import type { ConnectUrl } from '../peer/dial/dialer.js';
import { checkPeer } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';

/**
 * The peer of an application. {@link provideMux} provides it, and a test provides its own.
 *
 * @example
 * ```ts
 * TestBed.configureTestingModule({ providers: [{ provide: MUX, useValue: createPair(api, answers).dialer }] });
 * ```
 */
export const MUX = new InjectionToken<Peer>('rxmux');

/**
 * Provides one peer to an application, or to the routes below a route. The first {@link injectPeer} dials, outside of zone.js. The peer
 * dials again as often as it takes, unless `reconnect` says otherwise. It closes when its injector is destroyed.
 *
 * On a server (SSR and prerender) the peer never dials: its status stays `connecting`, its calls wait, and it sets no timer. A server
 * that calls provides its own `MUX`.
 *
 * @param url as for `connect`: an address, or a function that returns the address for each dial
 * @param options as for `connect`; or a function that returns them, and may call `inject`
 * @throws CodecNotRegistered and TypeError as `connect` does, from the first {@link injectPeer}
 *
 * @example
 * ```ts
 * bootstrapApplication(App, { providers: [provideMux('/mux')] });
 *
 * provideMux('wss://example.org/mux', () => {
 *   const session = inject(Session);
 *   return { hello: () => ({ payload: session.token() }) };
 * });
 * ```
 */
export function provideMux(url: ConnectUrl, options: ConnectOptions | (() => ConnectOptions) = {}): EnvironmentProviders {
  const useFactory = (): Peer => connectHere(url, typeof options === 'function' ? options() : options);
  return makeEnvironmentProviders([{ provide: MUX, useFactory }]);
}

function connectHere(url: ConnectUrl, given: ConnectOptions): Peer {
  const options = { ...given, reconnect: given.reconnect ?? { maxAttempts: Infinity } };
  // zone.js takes an application for unstable while one of its timers is set, and keepalive always has one.
  const peer = isOnServer()
    ? connect(nowhere, { ...options, lazy: true, connectTimeoutMs: 0, requestTimeoutMs: 0 })
    : inject(NgZone).runOutsideAngular(() => connect(url, options));
  inject(DestroyRef).onDestroy(() => void peer.close());
  return peer;
}

/** The address of a peer that never dials. */
function nowhere(): Promise<never> {
  return new Promise(() => undefined);
}

/** Whether this application renders on a server. `isPlatformServer` would need `@angular/common`. */
export function isOnServer(): boolean {
  return inject(PLATFORM_ID) === 'server';
}

/**
 * Returns the peer of {@link provideMux}. Call it where `inject` works.
 *
 * @throws Error where no provider has a peer; TypeError for an object that is no peer
 *
 * @example
 * ```ts
 * export class Cart {
 *   readonly #calls = client(injectPeer(), api);
 *   readonly book = (seat: string) => this.#calls.book.promise({ seat });
 * }
 * ```
 */
export function injectPeer(): Peer {
  const peer = inject(MUX, { optional: true });
  if (peer === null) throw new Error('expected a peer, got none: add provideMux(url) to the providers of the application');
  checkPeer('MUX', peer, 'status$');
  return peer;
}

/**
 * Returns the state of the connection as a signal. Call it where `inject` works.
 *
 * @throws Error where no provider has a peer; TypeError for an object that is no peer
 *
 * @example
 * ```ts
 * @Component({ selector: 'app-badge', template: `{{ status().state }}` })   // connecting, open, waiting, draining or closed
 * export class Badge {
 *   readonly status = injectStatus();
 * }
 * ```
 */
export function injectStatus(): Signal<PeerStatus> {
  return toSignal(injectPeer().status$, { requireSync: true });
}
