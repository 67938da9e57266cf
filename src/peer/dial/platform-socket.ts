import { browserConnectivity } from '../../transport/connectivity.js';
import type { SocketLike } from '../../transport/socket-like.js';
import { checkBoolean, checkFunction, checkNumber } from '../../wire/check.js';
import type { Options } from '../../wire/options.js';
import { PeerCore } from '../core/peer-core.js';
import type { ResolvedOptions } from '../base/options.js';
import type { DialOptions } from './connect-options.js';
import { NoWebSocketError } from './connect-error.js';
import { Dialer } from './dialer.js';
import type { DialPlan } from './dial-plan.js';

/** {@link DialOptions}, checked and with defaults. */
export interface ResolvedDial {
  readonly connectTimeoutMs: number;
  readonly lazy: boolean;
  readonly idleCloseMs: number;
  readonly socket: DialOptions['socket'];
}

/** Declares {@link DialOptions}. */
export const DIAL_OPTIONS: Options<DialOptions, ResolvedDial> = {
  connectTimeoutMs: [checkNumber, 10_000],
  lazy: [checkBoolean, false],
  idleCloseMs: [checkNumber, 0],
  socket: [checkFunction, undefined],
};

/** @throws TypeError for a time that only a lazy peer has */
export function checkIdle({ idleCloseMs, lazy }: ResolvedDial): void {
  if (idleCloseMs > 0 && !lazy) throw new TypeError('idleCloseMs: expected lazy: true beside it, got none');
}

/** Makes the core of a peer that dials, and its dialer, which has not begun. */
export function dialerOf(
  options: ResolvedOptions,
  { url, open, ...plan }: Omit<DialPlan, 'connectivity'>,
): { readonly core: PeerCore; readonly dialer: Dialer } {
  const core = new PeerCore(options);
  if (typeof url !== 'function') core.setRemote(shownAddress(String(url)));
  const dialer = new Dialer(core, {
    ...plan,
    url,
    open: (address, protocol) => {
      if (typeof url === 'function') core.setRemote(shownAddress(address));
      return open(address, protocol);
    },
    connectivity: browserConnectivity(),
  });
  return { core, dialer };
}

/** The socket of the platform. */
export function platformSocket(address: string, protocol: string): SocketLike {
  if (typeof WebSocket === 'function') return new WebSocket(address, protocol);
  throw new NoWebSocketError();
}

/** An address for the log. It omits credentials and query, which may hold tokens. It is empty unless the address is absolute. */
function shownAddress(address: string): string {
  try {
    const { protocol, host, pathname } = new URL(address);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return '';
  }
}
