import type { SocketClose } from '../transport/transport.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { ResetCode } from '../wire/codes.js';
import type { FrameObserver } from './base/frame-observer.js';
import type { StreamOwner } from './streams/live-stream-host.js';
import type { Session } from '../connection/connection.js';

/** The end of a socket. */
export interface Loss {
  readonly reason: CloseReason;
  /** Continues after the end, once every stream has failed. */
  follow(): void;
}

/** The owner of sessions. A session reports events to its owner that concern more than one stream. */
export interface SessionOwner extends StreamOwner, FrameObserver {
  /** The remote has answered a ping after `rttMs`. */
  answered(rttMs: number): void;
  /** The last open stream of a socket has ended. */
  idle(session: Session): void;
  /** A notification of several messages has left, or never will. Later notifications may follow. */
  notified(session: Session): void;
  /** The remote goes away, so this socket accepts no new streams. */
  goneAway(session: Session, code: ResetCode): void;
  /** The socket has ended. Every live stream will fail with the reason of the returned loss. */
  ending(session: Session, close: SocketClose): Loss;
  /** Every live stream has failed. */
  ended(loss: Loss): void;
}
