import type { Transport } from '../transport/transport.js';
import type { Codec } from '../wire/codec.js';
import type { Limits } from '../wire/limits.js';
import type { Share } from './base/share.js';
import type { KeepaliveTimes } from './watch/keepalive.js';
import type { SessionOwner } from './session-owner.js';

/** What a session puts up with. Each limit is read at its use, because the owner may widen them. */
export interface SessionLimits extends Limits {
  /** Ends each reason for which the remote has broken a rule or passed a limit. Default none. */
  readonly note?: string | undefined;
}

/** What a session is made of. */
export interface SessionOptions {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: SessionLimits;
  readonly isDialer: boolean;
  /** `null`: the connection is never probed. */
  readonly keepalive: KeepaliveTimes | null;
  /** Bytes of one encoded message at most. */
  readonly maxFrameBytes: number;
  /** The first id of this side's streams; default 1 for the dialer and 2 for the acceptor. */
  readonly firstId?: number;
  /** Among the owner's sockets, from 1. */
  readonly number: number;
  readonly owner: SessionOwner;
  /** The connection's share of limits together with others. Default none. */
  readonly share?: Share | null;
}
