import type { SocketClose } from '../../transport/transport.js';
import type { Frame, FrameDirection } from '../../wire/frame.js';
import type { PeerStatus } from '../status.js';

/** Logs what one peer does at `debug`. */
export interface PeerLog {
  /** A socket has opened. */
  opened(connection: number): void;
  frame(connection: number, direction: FrameDirection, frame: Frame): void;
  /** A socket has ended. */
  ended(connection: number, close: SocketClose): void;
  /** The status has changed: a dial, the wait before a dial, a drain, the end. */
  status(status: PeerStatus): void;
}

/** The peer that a log names. */
export interface Logged {
  readonly label: string;
}

let make: ((peer: Logged) => PeerLog) | null = null;

/** Sets the function that makes the logs of peers. A page of `rxmux/lean` without `logger` never calls it, and carries no log. */
export function makePeerLogsBy(makeLog: (peer: Logged) => PeerLog): void {
  make = makeLog;
}

/** Makes the log of a peer; `null` where nothing reads it. */
export function newPeerLog(peer: Logged): PeerLog | null {
  return make?.(peer) ?? null;
}
