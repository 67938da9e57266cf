import type { PeerStatus, Stream, StreamHandler } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import type { Pair, PairOptions } from '../../../src/testing.js';
import { framesOf } from './frames.js';
import type { Envelope } from './frames.js';
import { stays } from './streams.js';

/** A pair, and what a test observes of it from its beginning. */
export interface WatchedPair extends Pair {
  /** The streams that the acceptor's handler received. */
  readonly streams: readonly Stream[];
  /** Each status of the dialer. */
  readonly statuses: readonly PeerStatus[];
  /** The frames that the dialer sent. */
  readonly sent: readonly Envelope[];
}

/** A pair whose acceptor answers with `handler`; by default the handler never settles. */
export function pair(handler: StreamHandler = stays, options: PairOptions = {}): WatchedPair {
  const made = createPair(options);
  const streams: Stream[] = [];
  made.acceptor.onStream((payload, stream) => {
    streams.push(stream);
    return handler(payload, stream);
  });
  const statuses: PeerStatus[] = [];
  made.dialer.status$.subscribe((status) => statuses.push(status));
  return { ...made, streams, statuses, sent: framesOf(made.dialer) };
}
