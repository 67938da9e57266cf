import type { SocketLike } from '../../transport/socket-like.js';
import { checkBoolean, checkFunction, checkNumber } from '../../wire/check.js';
import type { Options } from '../../util/check.js';
import type { PeerOptions } from '../options.js';
import type { DialContext } from './dial-plan.js';
import type { Hello } from '../hello.js';
import type { Reconnect } from './reconnect-options.js';

/** Options of `connect`. */
export interface ConnectOptions extends PeerOptions {
  /** Dials again when the socket is lost or the server goes away; an object changes how. Default `false`. */
  readonly reconnect?: boolean | Reconnect | undefined;
  /** Makes the first stream of every socket, for tokens and resume cursors; other calls wait for its reply. Default none. */
  readonly hello?: ((context: DialContext) => Hello | Promise<Hello>) | undefined;
  /** How long the socket may take to open, in ms; 0 is no limit. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long the hello and its reply may take together, in ms; 0 is no limit. Default 10 000. */
  readonly helloTimeoutMs?: number | undefined;
  /** Dials on the first call instead of at once. The status is `connecting` until then. Default `false`. */
  readonly lazy?: boolean | undefined;
  /**
   * Closes the socket of a `lazy` peer once no stream has been open for so long, in ms; 0 never does. The peer stays `connecting`, and its
   * next call dials. Default 0.
   */
  readonly idleCloseMs?: number | undefined;
  /** Makes the socket. Default `new WebSocket(url, protocol)` of the platform, or a socket of `ws` in Node. */
  readonly socket?: ((url: string, protocol: string) => SocketLike) | undefined;
}

/** The options of a dial that every entry point has. */
export type DialOptions = Pick<ConnectOptions, 'connectTimeoutMs' | 'lazy' | 'idleCloseMs' | 'socket'>;

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
