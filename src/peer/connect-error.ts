import type { SocketClose } from '../transport/transport.js';
import { ConnectError } from '../wire/errors.js';

const SUSPECTS =
  '; this platform does not say why: check the address, that both ends use the same codec, that the server allows this origin, and the proxies between';

/** There is nothing to dial with here, and the next dial would find no more. */
export class NoWebSocketError extends TypeError {
  constructor() {
    super("expected a platform with a WebSocket, got none: use connect of 'rxmux/node', or give the option socket");
  }
}

/** The error of a dial that failed, as precise as the platform allows. */
export function connectError(close: SocketClose, status: number | null = null, opaque = false): ConnectError {
  const reason = { ...close, willRetry: false };
  if (status !== null) return new ConnectError(`expected the handshake to be accepted, got HTTP ${status}`, { status, reason });
  const text = reason.reason === '' ? String(reason.code) : `${reason.code} ${reason.reason}`;
  return new ConnectError(`the connection could not be opened (${text})${opaque ? SUSPECTS : ''}`, { reason });
}
