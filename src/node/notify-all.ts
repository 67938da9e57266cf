import { log } from '../logger.js';
import type { Peer } from '../peer/peer.js';
import { SharedPayload } from '../peer/stream/shared-payload.js';
import { checkFunction, checkObject } from '../wire/check.js';
import { QueueOverflowError, StreamIdsExhaustedError } from '../wire/stream-errors.js';
import type { ServerNotifyOptions } from './mux-server.js';

/** Notifies every chosen peer of one payload. Returns how many. */
export function notifyAll(peers: Iterable<Peer>, payload: unknown, options: ServerNotifyOptions): number {
  const { to, headers } = checkObject('options', options);
  if (to !== undefined) checkFunction('to', to);
  const shared = payload === undefined || payload instanceof SharedPayload ? payload : new SharedPayload(payload);
  let notified = 0;
  // A copy: an interceptor, or `to`, may close peers.
  for (const peer of [...peers]) {
    const { state } = peer.status;
    const isChosen = (state === 'open' || state === 'connecting') && (to === undefined || to(peer));
    if (isChosen && isNotified(peer, shared, headers)) notified++;
  }
  return notified;
}

/** One peer without room or ids must not keep the payload from the others. */
function isNotified(peer: Peer, payload: unknown, headers: ServerNotifyOptions['headers']): boolean {
  try {
    peer.notify(payload, { headers });
    return true;
  } catch (error) {
    if (!(error instanceof QueueOverflowError || error instanceof StreamIdsExhaustedError)) throw error;
    log('warn', `${peer.toString()} was not notified`, error);
    return false;
  }
}
