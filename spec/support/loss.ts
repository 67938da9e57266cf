import type { Loss } from '../../src/session/session-owner.js';
import type { SocketClose } from '../../src/transport/transport.js';

/** The end of a socket after which there is no other. */
export function lastLoss(close: SocketClose): Loss {
  return { reason: { ...close, willRetry: false }, follow: () => undefined };
}
