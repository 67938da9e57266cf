import type { Loss } from '../../../src/connection/connection.js';
import type { SocketClose } from '../../../src/transport/transport.js';

/** The loss of a socket after which the peer makes no other. */
export function lastLoss(close: SocketClose): Loss {
  return { reason: { ...close, willRetry: false }, follow: () => undefined };
}
