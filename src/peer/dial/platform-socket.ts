import type { SocketLike } from '../../transport/socket-like.js';

/** This platform has no WebSocket, so the next dial would fail too. */
export class NoWebSocketError extends TypeError {
  constructor() {
    super("expected a platform with a WebSocket, got none: use connect of 'rxmux/node', or pass the option socket");
  }
}

/** The socket of the platform. */
export function platformSocket(address: string, protocol: string): SocketLike {
  if (typeof WebSocket === 'function') return new WebSocket(address, protocol);
  throw new NoWebSocketError();
}
