import type { Message } from '../../wire/codec.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { Reassembly } from '../../wire/reassembly.js';
import type { ResetCode } from '../../wire/codes.js';
import type { FloodGuard } from '../base/flood-guard.js';
import type { GoAway } from '../base/goaway.js';
import type { Tally } from '../base/tally.js';
import type { ReadBackpressure } from '../receive/read-backpressure.js';
import type { ReceiveBudget } from '../../connection/budget.js';
import type { MessageForm } from '../send/control-frames.js';
import type { Scheduler } from '../../connection/outbound.js';
import type { LiveStream } from '../../stream/stream-core.js';
import type { NotificationTurn } from './notification-turn.js';
import type { StreamTable } from './stream-table.js';

/** The owner of the remote's streams. */
export interface StreamOwner {
  /** Counts the streams and frames of all sockets. */
  readonly tally: Tally;
  /** Makes the stream for an open of the remote, which may not have arrived whole. */
  remoteStream(): LiveStream;
  /** The library has refused a stream of the remote, because of a rule or a limit, or because no handler took it. */
  refused(code: ResetCode, reason: string): void;
}

/** Closes a draining connection after its last stream. */
export interface StreamClosing {
  /** A stream has ended. */
  streamReleased(): void;
}

/** The parts of a session that a live stream uses. */
export interface LiveStreamHost extends MessageForm {
  readonly streams: StreamTable;
  readonly scheduler: Scheduler;
  readonly flood: FloodGuard;
  readonly reading: ReadBackpressure;
  readonly receiveBudget: ReceiveBudget;
  readonly reassembly: Pick<Reassembly, 'release'>;
  readonly control: { readonly goaway: GoAway };
  readonly owner: StreamOwner;
  readonly closing: StreamClosing;
  readonly notifications: NotificationTurn;
  /** Bytes of the payload in delivery, with its headers. */
  readonly arrivedBytes: number;
  /** Returns the reason of a reset, with the note of the limits appended. */
  noted(reason: string): string;
  /** Ends the connection. */
  fail(error: unknown): void;
}

/** The frames of a stream that no socket has accepted yet, and the tasks that wait on the stream. */
export interface WaitingFrames {
  /** Whether the stream can send more without growing a long queue. */
  readonly hasRoom: boolean;
  /** Returns whether the queue of all streams is so full that a value of `bytes` must fail if it did not wait for room. */
  overflowsWith(bytes: number): boolean;
  /** Keeps a task until a socket accepts the stream, or until there is room. */
  addTask(task: () => void): void;
  add(frame: OutgoingFrame): void;
  /** The stream has ended. Drops its frames, and returns its tasks. */
  leave(): readonly (() => void)[];
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
