import type { SocketClose } from '../../transport/transport.js';
import { ConnectError } from '../../wire/errors.js';
import { shownAddress } from './address.js';

const SUSPECTS =
  '; this platform does not say why: check the address, that both ends use the same codec, that the server allows this origin, and the proxies between';
const NO_UPGRADE = '; a proxy on the way may not pass upgrades: it has to forward the headers Upgrade and Connection';
const HTTP_UPGRADE_REQUIRED = 426;

/** Facts about a failed dial. */
export interface ConnectFacts {
  readonly address?: string | null;
  /** HTTP status of a refused handshake. */
  readonly status?: number | null;
  /** Whether the platform hides why the dial failed. */
  readonly opaque?: boolean;
  /** The error that the platform reported. */
  readonly cause?: unknown;
}

/** Returns the error of a failed dial, as precise as the platform allows. */
export function connectError(
  close: SocketClose,
  { address = null, status = null, opaque = false, cause }: ConnectFacts = {},
): ConnectError {
  const reason = { ...close, willRetry: false };
  // Without an address, only a server has a status: its own.
  const where = address === null ? 'this server' : shownAddress(address);
  if (status !== null) {
    const suspect = status === HTTP_UPGRADE_REQUIRED ? NO_UPGRADE : '';
    return new ConnectError(`expected ${where} to accept the handshake, got HTTP ${status}${suspect}`, { status, reason });
  }
  const said = close.reason && ` ${close.reason}`;
  const suspects = opaque && !said ? SUSPECTS : '';
  return new ConnectError(`the connection${address === null ? '' : ` to ${where}`} could not be opened (${close.code}${said})${suspects}`, {
    reason,
    ...(cause === undefined ? {} : { cause }),
  });
}
