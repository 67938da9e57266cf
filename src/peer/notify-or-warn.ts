import { log } from '../logger.js';
import type { MetadataInput } from '../wire/frame.js';
import { QueueOverflowError, StreamIdsExhaustedError } from '../wire/stream-errors.js';
import type { Peer } from './peer.js';

/**
 * Notifies one of many peers. A peer without room or ids must not keep the payload from the others, so the log warns.
 *
 * @returns whether the peer has accepted the payload
 */
export function notifyOrWarn(peer: Peer, payload: unknown, headers?: MetadataInput): boolean {
  try {
    peer.notify(payload, { headers });
    return true;
  } catch (error) {
    if (!(error instanceof QueueOverflowError || error instanceof StreamIdsExhaustedError)) throw error;
    log('warn', `${peer.toString()} was not notified`, error);
    return false;
  }
}
