import type { Codec } from '../../wire/codec.js';
import type { CompleteFrame } from '../../wire/frame.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { Reassembly } from '../../wire/reassembly.js';
import type { ResetCode } from '../../wire/reset-code.js';
import type { FloodGuard } from '../base/flood-guard.js';
import type { GoAway } from '../base/goaway.js';
import type { ReadBackpressure } from '../receive/read-backpressure.js';
import type { ReceiveBudget } from '../receive/receive-budget.js';
import type { ControlFrames } from '../send/control-frames.js';
import type { Scheduler } from '../send/scheduler.js';
import type { EndingStream } from './ending-stream.js';
import type { LiveStream } from './live-stream.js';
import type { StreamTable } from './stream-table.js';

/** Who holds the streams of the remote. */
export interface StreamOwner {
  /** A stream that the remote opened has arrived whole. */
  accept(stream: LiveStream, open: CompleteFrame): void;
  /** The library has refused a stream of the remote, for a rule, for a limit, or as no handler took it. */
  refused(code: ResetCode, reason: string): void;
}

/** Closes a connection that drains, after its last stream. */
export interface StreamClosing {
  /** A stream has ended. */
  streamReleased(): void;
}

/** What a live stream asks of its session. */
export interface LiveStreamHost {
  readonly codec: Codec;
  readonly streams: StreamTable;
  readonly scheduler: Scheduler;
  readonly frames: ControlFrames;
  readonly flood: FloodGuard;
  readonly reading: ReadBackpressure;
  readonly receiveBudget: ReceiveBudget;
  readonly reassembly: Pick<Reassembly, 'release'>;
  readonly control: { readonly goaway: GoAway };
  readonly owner: StreamOwner;
  readonly closing: StreamClosing;
  /** Bytes of the payload that is being delivered, with its headers. */
  readonly arrivedBytes: number;
  /** A notification is about to be queued. */
  notifying(stream: EndingStream, open: OutgoingFrame): void;
  /** A notification has left, or has ended before. */
  notified(stream: EndingStream): void;
  /** A reason of a reset, with what the limits in force add to it. */
  noted(reason: string): string;
  /** Ends the connection. */
  fail(error: unknown): void;
}
