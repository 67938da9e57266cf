import type { Session } from '../../connection/connection.js';
import type { Loss } from '../../session/session-owner.js';
import type { SocketClose } from '../../transport/transport.js';
import { CloseCode } from '../../wire/close-reason.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { ResetCode } from '../../wire/codes.js';
import type { SocketOutlook } from '../stream/stream-host.js';

/** The source of a peer's sockets: the one socket that it received, or the sockets that it dials, one after the other. */
export interface SocketSource extends SocketOutlook {
  /** Starts, and passes each socket that opens to `PeerCore.adopt`. */
  start(): void;
  /** Called when a stream needs a socket. A dialing source then dials, unless it has begun. */
  ensureDialing(): void;
  /** Dials now, without the rest of a delay. */
  dialNow(): void;
  /** Dials another socket, because the ids of the current one are used up. Returns `false` if there can be no other socket. */
  replace(): boolean;
  /** Called when the remote of a session goes away; `code` is NO_ERROR if there is no error. */
  goneAway(session: Session, code: ResetCode): void;
  /** No stream is open on a session any more. */
  idle(session: Session): void;
  /**
   * Called when a session's socket has ended. Decides `willRetry` now, before streams fail and `onClose` runs; `Loss.follow` acts on it
   * after them.
   */
  lost(session: Session, close: SocketClose): Loss;
  /** Stops dialing. */
  stop(): void;
}

/** The reason of a peer that was closed before it had a socket. */
export const NEVER_OPEN: CloseReason = { code: CloseCode.CLEAN, reason: 'closed before it was open', wasClean: false, willRetry: false };
