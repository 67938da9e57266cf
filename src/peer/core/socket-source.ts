import type { Session } from '../../session/session.js';
import type { Loss } from '../../session/base/session-owner.js';
import type { SocketClose } from '../../transport/transport.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { CloseCode } from '../../wire/close-reason.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { ResetCode } from '../../wire/reset-code.js';

/** Why a source has no open socket, for a call that ends before it was sent. */
export interface Absence {
  readonly reason: string;
  /** What the last dial failed with, if one did. */
  readonly error: AnyMuxError | null;
}

/** Where a peer's sockets come from: one that it was given, or those it dials, one after the other. */
export interface SocketSource {
  /** Begins; sockets that open are given to `PeerCore.adopt`. */
  start(): void;
  /** Somebody wants to open a stream: a source that dials does so, unless it has begun. */
  ensureDialing(): void;
  /** Whether a socket is still to come, so that streams that are opened now may wait for it. */
  readonly expectsSocket: boolean;
  readonly absence: Absence;
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
