import type { Session } from '../../session/session.js';
import type { Loss } from '../../session/session-owner.js';
import type { SocketClose } from '../../transport/transport.js';
import { CloseCode } from '../../wire/close-reason.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { ResetCode } from '../../wire/reset-code.js';
import type { SocketOutlook } from '../stream/stream-host.js';

/** Where a peer's sockets come from: one that it was given, or those it dials, one after the other. */
export interface SocketSource extends SocketOutlook {
  /** Begins; sockets that open are given to `PeerCore.adopt`. */
  start(): void;
  /** Somebody wants to open a stream: a source that dials does so, unless it has begun. */
  ensureDialing(): void;
  /** Dials now instead of waiting out a delay. */
  dialNow(): void;
  /** The ids of the current socket are used up: dials another to go on with; `false` where this socket is the only one. */
  replace(): boolean;
  /** The remote of a session goes away; `code` is NO_ERROR where nothing is wrong. */
  goneAway(session: Session, code: ResetCode): void;
  /**
   * A session's socket has ended. Decides `willRetry` now, before streams fail and `onClose` runs; `Loss.follow` acts on it after
   * them.
   */
  lost(session: Session, close: SocketClose): Loss;
  /** Dials no more. */
  stop(): void;
}

/** Why a peer ended that was closed before there was a socket. */
export const NEVER_OPEN: CloseReason = { code: CloseCode.CLEAN, reason: 'closed before it was open', wasClean: false, willRetry: false };
