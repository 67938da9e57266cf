import type { SocketClose } from '../transport/transport.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { Message } from '../wire/codec.js';
import type { Frame, FrameDirection } from '../wire/frame.js';
import type { ResetCode } from '../wire/reset-code.js';
import type { StreamOwner } from './streams/live-stream-host.js';
import type { Session } from './session.js';

/** The end of a socket. */
export interface Loss {
  readonly reason: CloseReason;
  /** What comes next, once everybody has been told. */
  follow(): void;
}

/** Who holds sessions: told of what concerns more than one stream. */
export interface SessionOwner extends StreamOwner {
  /** A frame is about to be encoded, or was decoded from a message of `bytes`. */
  observed(session: Session, direction: FrameDirection, frame: Frame, bytes: number): void;
  /** A frame was encoded, and its message is about to be written. */
  encoded(session: Session, frame: Frame, message: Message): void;
  /** The remote has answered a ping, after so many ms. */
  answered(rttMs: number): void;
  /** The last open stream of a socket has ended. */
  idle(session: Session): void;
  /** A notification that took several messages has left, or never will: later ones may follow. */
  notified(session: Session): void;
  /** The remote goes away: this socket takes no new streams. */
  goneAway(session: Session, code: ResetCode): void;
  /** The socket has ended. Every stream still live fails with its reason. */
  ending(session: Session, close: SocketClose): Loss;
  /** The last stream has been failed. */
  ended(loss: Loss): void;
}
