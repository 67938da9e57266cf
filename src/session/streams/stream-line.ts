import type { Message } from '../../wire/codec.js';
import type { CompleteFrame } from '../../wire/frame.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { ResetCode } from '../../wire/reset-code.js';
import type { Unsent } from '../send/backlog.js';
import type { CloseCause } from '../base/close-cause.js';
import type { StreamPhase } from './stream-state.js';

/** The holder of a stream. It receives every frame of the stream, and the stream's end. An error that it throws ends only the stream. */
export interface StreamSink {
  /** Receives one whole `data` frame of the remote, right after the stream's phase has changed. */
  receive(frame: CompleteFrame): void;
  /**
   * The stream has left the connection. No call follows.
   *
   * @param error the error for the stream's user instead of the cause's plain error, if any
   */
  gone(cause: CloseCause, error?: unknown): void;
  /**
   * The socket accepts no new streams any more, and no frame of this stream has left. The stream returns its frames and waiting tasks. It
   * has left the connection and belongs to the sink that accepts them.
   *
   * @returns whether the sink accepts them, to send elsewhere; if not, the stream is {@link gone}. Default `false`
   */
  takeBack?(unsent: Unsent): boolean;
}

/** Optional parts of a reset. */
export interface ResetExtras {
  /** The decoded payload; default `null`, which means none. */
  readonly payload?: unknown;
  /** The encoded payload; default `null`, which sends none. */
  readonly encodedPayload?: Message | null;
  /** The error for the stream's user instead of the cause's plain error. */
  readonly error?: unknown;
}

/** A reset without optional parts. */
export const NO_EXTRAS: ResetExtras = {};

/** The destination of a stream's frames: a live stream of a socket, or a place in the queue of streams that wait for a socket. */
export interface StreamLine {
  /** `null` until a socket has accepted the stream. */
  readonly id: number | null;
  /** Whether this side opened the stream. */
  readonly local: boolean;
  /** A `notify`: no answer is expected. */
  readonly isNotification: boolean;
  readonly phase: StreamPhase;
  /** Whether this side may send nothing more, because its `end` is accepted or the stream is closed. */
  readonly sealed: boolean;
  /** Whether this side opened the stream and no frame of it has ever left. */
  readonly unsent: boolean;
  /** Whether this side can send more without growing a long queue. */
  readonly hasRoom: boolean;
  /** Whether a frame sent now leaves at once, so that it is time to pull the next value. */
  readonly hasDemand: boolean;
  /** Returns whether the queues of all streams are so full that a value of `bytes` must fail if it did not wait for room. */
  overflowsWith(bytes: number): boolean;
  /** Bytes of the payload in delivery. */
  readonly arrivedBytes: number;
  /** Queues one frame under the stream's id. */
  send(frame: OutgoingFrame): void;
  /** Runs `task` once there is room, or once the stream has ended. */
  whenRoom(task: () => void): void;
  /** Runs `task` once a frame would leave at once, or once the stream has ended. */
  whenDemand(task: () => void): void;
  /** Ends the stream with a reset; does nothing on a closed one. */
  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, extras?: ResetExtras): void;
  /** A user has taken a stream that the remote opened. The stream counts as dispatched. */
  taken(): void;
  /** A handler of a remote stream has started. The stream keeps its place until the handler has settled, whatever the remote does. */
  handlerStarted(): void;
  /** The handler has settled. */
  handlerSettled(): void;
  /** Returns an upper estimate of a payload's memory, in bytes. `bytes` is its encoded length. */
  weigh(payload: unknown, bytes: number): number;
  /** Counts an unread payload. Over a limit it resets the stream and returns `false`. */
  keep(bytes: number, weight?: number): boolean;
  /** The consumer has read or dropped a counted payload. */
  read(bytes: number, weight?: number): void;
  /** The stream has received its last payload, and a consumer will still read the rest. The rest counts until then, even after the end. */
  handOver(): void;
}

/** The sink of a stream without a user. */
export const NOBODY: StreamSink = {
  receive() {
    // Drops every frame.
  },
  gone() {
    // No user is left to notify.
  },
};
