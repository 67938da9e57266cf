import { log } from '../../logger.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { FrameOf } from '../../wire/frame-types.js';
import { ABSENT } from '../../wire/frame.js';
import type { CompleteFrame } from '../../wire/frame.js';
import { chargeOf } from '../../wire/held-bytes.js';
import { ResetCode } from '../../wire/reset-code.js';
import { ENDED } from '../base/close-cause.js';
import type { CloseCause } from '../base/close-cause.js';
import { overtakes } from '../base/precedence.js';
import { resetFrame } from '../send/control-frames.js';
import { runAll } from '../base/waiters.js';
import type { Excess } from '../receive/receive-budget.js';
import { CountedUnreadBytes, UNCOUNTED } from '../receive/unread-bytes.js';
import type { UnreadBytes } from '../receive/unread-bytes.js';
import type { LiveStreamHost } from './live-stream-host.js';
import { NO_EXTRAS, NOBODY } from './stream-line.js';
import type { ResetExtras, StreamSink } from './stream-line.js';
import type { StreamSlot } from './stream-slot.js';
import { StreamState } from './stream-state.js';
import type { StreamInput } from './stream-state.js';

/** Codes of resets by the library without a fault of the remote: an unread upload, the streams left by a drain, and a caller's deadline. */
const WELL_MEANT: ReadonlySet<ResetCode> = new Set([ResetCode.NO_ERROR, ResetCode.CANCEL, ResetCode.DEADLINE_EXCEEDED]);

/**
 * Holds one stream's resources of its connection, and is the one place that releases them. A stream ends in three steps:
 *
 * 1. The state moves to its last row. {@link close} then releases the pause of reading, the id in the table, and unfinished payloads. It
 *    also releases the slot of `maxStreams`, unless a handler or an unwritten reset still holds the slot.
 * 2. The sink receives the cause.
 * 3. {@link release} releases unread payloads, unless a handler still runs. Then it runs the tasks that waited on the stream, and notifies
 *    the drain.
 *
 * A reset by the remote drops the queued frames before the first step. So does a reset by this side that overtakes them.
 */
export abstract class EndingStream extends StreamState {
  sink: StreamSink = NOBODY;
  #cause: CloseCause = ENDED;
  /** Created when the first payload has to wait. */
  #unread: UnreadBytes | null = null;
  /** Weight of the open's payload, of headers and of trailers. The stream's user holds them as long as the stream lives. */
  #attachedBytes = 0;
  readonly #slot: StreamSlot | null;

  constructor(
    protected readonly host: LiveStreamHost,
    readonly id: number,
    local: boolean,
    readonly isNotification = false,
  ) {
    super(local);
    this.#slot = local ? null : host.streams.takeSlot();
  }

  // Resources of the stream

  handlerStarted(): void {
    this.#slot?.handlerStarted();
    this.taken();
  }

  taken(): void {
    this.host.control.goaway.dispatched(this.id);
  }

  handlerSettled(): void {
    this.#slot?.handlerSettled();
    if (this.closed) this.#releaseBytes();
  }

  weigh(payload: unknown, bytes: number): number {
    return Math.max(chargeOf(bytes), this.host.codec.weigh?.(payload) ?? 0);
  }

  keep(bytes: number, weight?: number): boolean {
    const excess = this.#countedUnread().keep(bytes, weight);
    if (excess !== null) this.#overrun(excess);
    return excess === null;
  }

  read(bytes: number, weight?: number): void {
    this.#countedUnread().read(bytes, weight);
  }

  handOver(): void {
    this.#unread?.handOver();
  }

  /** Counts the parts of a delivered frame that stay with the stream. Over the limit it resets the stream and returns `false`. */
  protected attach({ payload, headers, trailers }: CompleteFrame): boolean {
    const kept = headers === null && trailers === null ? payload : [payload, headers, trailers];
    const bytes = this.weigh(kept, this.host.arrivedBytes);
    const excess = this.host.receiveBudget.attach(bytes);
    if (excess === null) this.#attachedBytes += bytes;
    else this.#overrun(excess);
    return excess === null;
  }

  // End of the stream

  /** This side resets the stream. */
  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, extras: ResetExtras = NO_EXTRAS): void {
    if (this.closed) return;
    const { streams, scheduler, owner } = this.host;
    const { payload = null, encodedPayload = null } = extras;
    if (by === 'library' && !this.local && code !== null && !WELL_MEANT.has(code)) owner.refused(code, reason);
    if (this.#slot !== null) streams.awaitReset(this.id, this.#slot);
    this.advance('sendReset');
    this.close({ how: 'reset', by, code, reason, payload });
    const isAhead = overtakes(code);
    if (isAhead) scheduler.backlog.drop(this.id);
    // If the open was dropped, the remote does not know the stream.
    if (!isAhead || !this.unsent) scheduler.addReset(resetFrame(this.host, this.id, code, reason, payload, encodedPayload), isAhead);
    this.release(extras.error);
  }

  /** The remote has reset the stream. */
  protected resetByRemote({ code, reason, payload }: FrameOf<'reset'>): void {
    const { flood, scheduler } = this.host;
    if (this.#slot?.running === true) flood.countEarlyReset();
    scheduler.backlog.drop(this.id);
    this.advance('recvReset');
    this.close({ how: 'reset', by: 'remote', code, reason: reason ?? '', payload: payload === ABSENT ? null : payload });
    this.release();
  }

  /** The remote goes away without having processed this stream. */
  refusedByGoaway(reason: string): void {
    this.#end('recvReset', { how: 'reset', by: 'library', code: ResetCode.REFUSED, reason, payload: null });
  }

  /** The socket has ended. */
  connectionLost(reason: CloseReason): void {
    this.#end('close', { how: 'lost', reason });
  }

  /** The owner's code has thrown. The error ends only this stream. */
  protected broken(error: unknown): void {
    log('error', `stream ${this.id}: internal error`, error);
    this.reset('library', ResetCode.INTERNAL_ERROR, 'internal error');
  }

  /** Removes the stream from its connection, once its state is closed and before its user sees the end. */
  protected close(cause: CloseCause = ENDED): void {
    const { receiveBudget, streams, reassembly } = this.host;
    this.#cause = cause;
    this.#slot?.close();
    if (this.#unread !== null) receiveBudget.unblock(this);
    streams.delete(this.id);
    reassembly.release(this.id);
  }

  /** Reports the end to the user of a closed stream, and releases the rest. */
  release(error?: unknown): void {
    this.host.owner.tally.ended(this.#cause);
    try {
      this.sink.gone(this.#cause, error);
    } catch (failure) {
      this.broken(failure);
    }
    if (this.#slot?.running !== true) this.#releaseBytes();
    this.#releaseTasks();
  }

  /** The socket takes no more frames of the stream. An unsent stream may move to the next socket, with its frames and waiting tasks. */
  #end(input: StreamInput, cause: CloseCause): void {
    if (this.closed) return;
    const queued = this.host.scheduler.backlog.takeUnsent(this.id);
    this.advance(input);
    this.close(cause);
    let isTaken = false;
    try {
      isTaken = this.unsent && this.sink.takeBack?.(queued) === true;
    } catch (error) {
      this.broken(error);
    }
    if (isTaken) {
      // The next socket counts it again.
      this.host.owner.tally.opened--;
      this.#releaseTasks();
    } else {
      this.release();
      runAll(queued.waiters);
    }
  }

  #releaseBytes(): void {
    this.#unread = (this.#unread ?? UNCOUNTED).drop();
    if (this.#attachedBytes > 0) this.host.receiveBudget.releaseAttached(this.#attachedBytes);
    this.#attachedBytes = 0;
  }

  #releaseTasks(): void {
    const { host } = this;
    if (this.isNotification) host.notifications.ended(this);
    host.scheduler.release(this.id);
    host.closing.streamReleased();
  }

  #countedUnread(): UnreadBytes {
    return (this.#unread ??= new CountedUnreadBytes(this, this.host.receiveBudget));
  }

  /** A payload exceeds a limit. */
  #overrun(excess: Excess): void {
    const { code } = excess;
    const reason = this.host.noted(excess.reason);
    // The frame that closed the stream carried the payload. No reset can be sent, but the reader must see an error.
    if (this.closed) this.#cause = { how: 'reset', by: 'library', code, reason, payload: null };
    else this.reset('library', code, reason);
  }
}
