import { refuseThenable } from '../peer/base/guard.js';
import { notifyOrWarn } from '../peer/notify-or-warn.js';
import type { Peer } from '../peer/peer.js';
import { SharedPayload } from '../stream/shared-payload.js';
import { checkFunction } from '../wire/check.js';
import { checkOptions } from '../util/check.js';
import type { ServerNotifyOptions } from './mux-server.js';

/** Notifies every chosen peer of one payload. Returns how many. */
export function notifyAll(peers: Iterable<Peer>, payload: unknown, options: ServerNotifyOptions): number {
  checkOptions(options, { to: true, headers: true });
  const { to, headers } = options;
  if (to !== undefined) checkFunction('to', to);
  const shared = payload === undefined || payload instanceof SharedPayload ? payload : new SharedPayload(payload);
  let notified = 0;
  // A copy: an interceptor, or `to`, may close peers.
  for (const peer of [...peers]) {
    const { state } = peer.status;
    const isChosen = (state === 'open' || state === 'connecting') && (to === undefined || chosen(to(peer)));
    if (isChosen && notifyOrWarn(peer, shared, headers)) notified++;
  }
  return notified;
}

/** A promise of `false` would choose every peer. */
function chosen(verdict: boolean): boolean {
  refuseThenable("the option 'to'", verdict);
  return verdict;
}
