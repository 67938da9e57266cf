import type { Observable, OperatorFunction } from 'rxjs';
import type { InputOptions, OpenOptions } from '../calls/calls.js';
import type { Peer } from '../peer.js';
import { checkPeer } from '../check-peer.js';

/**
 * Makes an operator of a remote stream: what the source emits is sent, what comes back is emitted. Each subscription opens
 * a stream; unsubscribing resets it with CANCEL, and an error of the source resets it with that error. With `retry` each
 * attempt subscribes to the source again: what a hot one gave to earlier attempts is lost.
 *
 * @throws TypeError for what is no peer, and where it is piped for an unknown `overflow`
 *
 * @example
 * ```ts
 * clicks$.pipe(through<Rank>(peer, { op: 'rank' })).subscribe(show);
 * ```
 */
export function through<In = unknown>(
  peer: Peer,
  payload?: unknown,
  options: OpenOptions<In> & Pick<InputOptions, 'overflow'> = {},
): OperatorFunction<unknown, In> {
  checkPeer('through', peer, 'open$');
  return (source: Observable<unknown>) => peer.open$<In>(payload, { ...options, input: source });
}
