import type { SocketClose, Transport } from '../transport/transport.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { Codec } from '../wire/codec.js';
import type { CompleteFrame, Frame, FrameDirection } from '../wire/frame.js';
import type { Limits } from '../wire/limits.js';
import type { ResetCode } from '../wire/reset-code.js';
import type { KeepaliveTimes } from './keepalive.js';
import type { LiveStream } from './live-stream.js';
import type { Session } from './session.js';

/** What a session is made of. */
export interface SessionOptions {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: Limits;
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
}

/** The end of a socket. */
export interface Loss {
  readonly reason: CloseReason;
  /** What comes next, once everybody has been told. */
  follow(): void;
}

/** Who holds sessions: told of what concerns more than one stream. */
export interface SessionOwner {
  /** A stream that the remote opened has arrived whole. */
  accept(stream: LiveStream, open: CompleteFrame): void;
  /** A frame goes out or has come in. */
  observed(session: Session, direction: FrameDirection, frame: Frame): void;
  /** The remote goes away: this socket takes no new streams. */
  goneAway(session: Session, code: ResetCode): void;
  /** The socket has ended. Every stream still live fails with its reason. */
  ending(session: Session, close: SocketClose): Loss;
  /** The last stream has been failed. */
  ended(loss: Loss): void;
}
