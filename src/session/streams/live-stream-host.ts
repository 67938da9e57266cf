import type { CompleteFrame } from '../../wire/frame.js';
import type { Reassembly } from '../../wire/reassembly.js';
import type { ResetCode } from '../../wire/reset-code.js';
import type { FloodGuard } from '../base/flood-guard.js';
import type { GoAway } from '../base/goaway.js';
import type { Tally } from '../base/tally.js';
import type { ReadBackpressure } from '../receive/read-backpressure.js';
import type { ReceiveBudget } from '../receive/receive-budget.js';
import type { MessageForm } from '../send/control-frames.js';
import type { Scheduler } from '../send/scheduler.js';
import type { LiveStream } from './live-stream.js';
import type { NotificationTurn } from './notification-turn.js';
import type { StreamTable } from './stream-table.js';

/** The owner of the remote's streams. */
export interface StreamOwner {
  /** Counts the streams and frames of all sockets. */
  readonly tally: Tally;
  /** The open of a remote stream has arrived whole. */
  accept(stream: LiveStream, open: CompleteFrame): void;
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
