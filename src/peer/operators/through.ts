import type { Observable, OperatorFunction } from 'rxjs';
import { OPEN_NAMES } from '../calls/call-options.js';
import type { InputOptions, OpenOptions } from '../calls/call-options.js';
import type { Peer } from '../peer.js';
import { checkPeer } from '../check-peer.js';
import { checkOptions } from '../../util/check.js';

/**
 * Makes an operator of a remote stream: it sends what the source emits, and emits what the remote sends. Each subscription opens a
 * stream. Unsubscribing resets the stream with CANCEL, and an error of the source resets it with that error. With `retry` each attempt
 * subscribes to the source again; values that a hot source emitted to earlier attempts are lost.
 *
 * @throws TypeError unless `peer` is a peer, and for an unknown option; when it is piped, for an unknown `overflow`
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
  checkOptions(options, OPEN_NAMES, { overflow: true });
  return (source: Observable<unknown>) => peer.open$<In>(payload, { ...options, input: source });
}
