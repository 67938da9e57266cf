import type { Transport } from '../transport/transport.js';
import type { Codec } from '../wire/codec.js';
import type { Limits } from '../wire/limits.js';
import type { Share } from './base/share.js';
import type { KeepaliveTimes } from './watch/keepalive.js';
import type { SessionOwner } from './session-owner.js';

/** The limits of a session. The session reads each limit at its use, because the owner may widen it. */
export interface SessionLimits extends Limits {
  /** A note at the end of each reason that blames the remote for a broken rule or passed limit. Default none. */
  readonly note?: string | undefined;
}

/** The parts and settings of a new session. */
export interface SessionOptions {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: SessionLimits;
  readonly isDialer: boolean;
  /** `null`: the session never probes its connection. */
  readonly keepalive: KeepaliveTimes | null;
  /** The most bytes of one encoded message. */
  readonly maxFrameBytes: number;
  /** The first id of this side's streams; default 1 for the dialer and 2 for the acceptor. */
  readonly firstId?: number;
  /** The number of this socket among the owner's sockets, from 1. */
  readonly number: number;
  readonly owner: SessionOwner;
  /** The connection's share of limits that hold for several connections together. Default none. */
  readonly share?: Share | null;
}
