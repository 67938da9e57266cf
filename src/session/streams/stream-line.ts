import type { Message } from '../../wire/codec.js';
import type { CompleteFrame } from '../../wire/frame.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { ResetCode } from '../../wire/reset-code.js';
import type { Unsent } from '../send/backlog.js';
import type { CloseCause } from '../base/close-cause.js';
import type { StreamPhase } from './stream-state.js';

/** Who holds a stream: told of everything that comes in on it, and of its end. What it throws ends the stream, and nothing else. */
export interface StreamSink {
  /** One whole frame of the remote: `data`, after the stream's phase has changed and before anything else. */
  receive(frame: CompleteFrame): void;
  /**
   * The stream has left the connection; nothing follows.
   *
   * @param error what the stream's user sees instead of the plain error of the cause, if anything
   */
  gone(cause: CloseCause, error?: unknown): void;
  /**
   * The socket takes no new streams any more and nothing of this one has left: its frames and those who wait on it come
   * back. The stream has left the connection and belongs to whoever takes them.
   *
   * @returns whether they are taken, to go elsewhere; if not, the stream is {@link gone}. Default `false`
   */
  takeBack?(unsent: Unsent): boolean;
}

/** What goes along with a reset. */
export interface ResetExtras {
  /** Default `null`, which stands for none. */
  readonly payload?: unknown;
  /** The payload as it is sent; default `null`, which sends none. */
  readonly encodedPayload?: Message | null;
  /** What the stream's user sees instead of the plain error of the cause. */
  readonly error?: unknown;
}

/** The usual reset. */
export const NO_EXTRAS: ResetExtras = {};

/** Where a stream's frames go: a live stream of a socket, or a place in the queue of those that wait for one. */
export interface StreamLine {
  /** `null` until a socket has taken the stream. */
  readonly id: number | null;
  /** Whether this side opened the stream. */
  readonly local: boolean;
  /** Whether nothing is wanted of it once its open has left. */
  readonly isNotification: boolean;
  readonly phase: StreamPhase;
  /** Whether this side may send nothing more: its `end` is accepted, or the stream is closed. */
  readonly sealed: boolean;
  /** Whether this side opened the stream and nothing of it has ever left. */
  readonly unsent: boolean;
  /** Whether more can be sent without growing a queue that is already long. */
  readonly hasRoom: boolean;
  /** Whether what is sent now leaves at once, so that it is time to ask for the next value. */
  readonly hasDemand: boolean;
  /** Whether so much waits on all streams that a value of so many bytes, which did not wait, has to fail. */
  overflowsWith(bytes: number): boolean;
  /** Bytes of the payload that is being delivered. */
  readonly arrivedBytes: number;
  /** Queues one frame, which gets the stream's id. */
  send(frame: OutgoingFrame): void;
  /** Runs `task` once there is room, or nothing to wait for any more. */
  whenRoom(task: () => void): void;
  /** Runs `task` once what is sent leaves at once, or there is nothing to wait for any more. */
  whenDemand(task: () => void): void;
  /** Ends the stream with a reset; does nothing on a closed one. */
  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, extras?: ResetExtras): void;
  /** Somebody begins to use a stream that the remote opened: it counts as dispatched. */
  taken(): void;
  /** Work on a stream that the remote opened begins: its place is kept until that has settled, whatever the remote does. */
  handlerStarted(): void;
  /** That work has settled. */
  handlerSettled(): void;
  /** Bytes of memory that a payload of so many encoded bytes takes, estimated from above. */
  weigh(payload: unknown, bytes: number): number;
  /** Counts a payload that waits to be read; `false` when that was too much and the stream has been reset. */
  keep(bytes: number, weight?: number): boolean;
  /** A payload that waited has been read or dropped. */
  read(bytes: number, weight?: number): void;
  /** Nothing more comes, and somebody still comes to what waits: it counts until then, whatever becomes of the stream. */
  handOver(): void;
}

/** Holds a stream that nobody listens to any more. */
export const NOBODY: StreamSink = {
  receive() {
    // Whatever comes is dropped.
  },
  gone() {
    // Nobody to tell.
  },
};
