import { log } from '../../logger.js';
import type { Sink } from '../../operators/demultiplex.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { Message } from '../../wire/codec.js';
import { StreamFault } from '../../wire/fault.js';
import { ABSENT } from '../../wire/frame.js';
import type { CompleteFrame, Frame } from '../../wire/frame.js';
import { chargeOf } from '../../wire/held-bytes.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import { ResetCode } from '../../wire/reset-code.js';
import { runAll } from '../base/waiters.js';
import { ENDED } from '../base/close-cause.js';
import type { CloseCause } from '../base/close-cause.js';
import { overtakes } from '../base/precedence.js';
import type { Excess } from '../receive/receive-budget.js';
import type { LiveStreamHost } from './live-stream-host.js';
import type { StreamSlot } from './stream-slot.js';
import { NOBODY } from './stream-line.js';
import type { StreamLine, StreamSink } from './stream-line.js';
import { StreamState } from './stream-state.js';
import type { StreamInput } from './stream-state.js';
import { CountedUnreadBytes, UNCOUNTED } from '../receive/unread-bytes.js';
import type { UnreadBytes } from '../receive/unread-bytes.js';

/** What the library resets without a fault of the remote: an upload that nobody reads, and streams at the end of a drain. */
const WELL_MEANT: ReadonlySet<ResetCode> = new Set([ResetCode.NO_ERROR, ResetCode.CANCEL]);

/** One live stream of one socket: its id, its phase, and the way its frames take in and out. It knows no Observable. */
export class LiveStream extends StreamState implements StreamLine, Sink<CompleteFrame | StreamFault> {
  sink: StreamSink = NOBODY;
  #sealed = false;
  /** Made when something has to wait. */
  #unread: UnreadBytes | null = null;
  #unsent: boolean;
  /** Whether the remote's first frame is still to come, which is the one that carries headers. */
  #headersDue: boolean;
  /** Weight of what came with the open, and of headers and trailers: the stream's user has them as long as it lives. */
  #attachedBytes = 0;
  readonly #slot: StreamSlot | null;

  constructor(
    private readonly host: LiveStreamHost,
    readonly id: number,
    readonly local: boolean,
    readonly isNotification = false,
  ) {
    super();
    this.#unsent = this.#headersDue = local;
    this.#slot = local ? null : host.streams.takeSlot();
  }

  get sealed(): boolean {
    return this.#sealed;
  }

  get unsent(): boolean {
    return this.#unsent;
  }

  get hasRoom(): boolean {
    return this.closed || this.host.scheduler.backlog.hasRoom(this.id);
  }

  get hasDemand(): boolean {
    return this.closed || this.host.scheduler.hasDemand(this.id);
  }

  get arrivedBytes(): number {
    return this.host.arrivedBytes;
  }

  handlerStarted(): void {
    this.#slot?.handlerStarted();
    this.taken();
  }

  taken(): void {
    this.host.control.goaway.dispatched(this.id);
  }

  handlerSettled(): void {
    this.#slot?.handlerSettled();
    if (this.closed) this.#discount();
  }

  overflowsWith(bytes: number): boolean {
    return this.host.scheduler.backlog.overflowsWith(this.id, bytes);
  }

  send(frame: OutgoingFrame): void {
    if (this.#sealed) return;
    if (frame.end) this.#sealed = true;
    frame.stream = this.id;
    if (this.isNotification) this.host.notifying(this, frame);
    this.host.scheduler.add(frame);
  }

  /** Accepts nothing more; what is queued still goes out. */
  seal(): void {
    this.#sealed = true;
  }

  whenRoom(task: () => void): void {
    if (this.closed) task();
    else this.host.scheduler.backlog.whenRoom(this.id, task);
  }

  whenDemand(task: () => void): void {
    if (this.closed) task();
    else this.host.scheduler.whenDemand(this.id, task);
  }

  reset(
    by: 'user' | 'library',
    code: ResetCode | null,
    reason: string,
    payload: unknown = null,
    encodedPayload: Message | null = null,
  ): void {
    if (this.closed) return;
    const { streams, scheduler, frames } = this.host;
    const cause: CloseCause = { how: 'reset', by, code, reason, payload };
    if (by === 'library' && !this.local && code !== null && !WELL_MEANT.has(code)) this.host.owner.refused(code, reason);
    if (this.#slot !== null) streams.awaitReset(this.id, this.#slot);
    this.#leave('sendReset', cause);
    const isAhead = overtakes(code);
    if (isAhead) scheduler.backlog.drop(this.id);
    // Of a stream whose open goes nowhere the remote is told nothing.
    if (!isAhead || !this.#unsent) scheduler.add(frames.reset(this.id, code, reason, payload, encodedPayload));
    this.#tell(cause);
  }

  /** The open is about to be written. */
  openLeaving(): void {
    this.#unsent = false;
  }

  /** A frame or slice of this stream is about to be written. Returns whether it ends the stream, which {@link endWritten} then tells. */
  leaving(slice: Frame): boolean {
    if (this.phase === 'idle') this.advance('sendOpen');
    if (slice.end !== true) return false;
    const closes = this.isNotification || this.closesWith('sendEnd');
    // A notification awaits nothing: 'lose' is the input that closes without a frame.
    if (closes) this.#leave(this.isNotification ? 'lose' : 'sendEnd', ENDED);
    else this.advance('sendEnd');
    return closes;
  }

  /** The frame that ended the stream has been written. */
  endWritten(): void {
    this.#tell(ENDED);
  }

  /** Whether the remote may send data now. */
  expectsData(): boolean {
    return this.accepts('recvData');
  }

  /** Whatever the remote sent on this stream. */
  next(value: CompleteFrame | StreamFault): void {
    if (value instanceof StreamFault) this.resetForViolation(value.code, value.reason);
    else if (value.type === 'open') this.#opened(value);
    else if (value.type === 'reset') this.#resetByRemote(value);
    else this.#data(value);
  }

  /** Nobody takes the stream that the remote has opened. */
  refuse(reason: string): void {
    this.reset('library', ResetCode.REFUSED, reason);
    // Called within `owner.accept`, whose errors end the stream alone, where a flood ends the connection.
    try {
      this.host.flood.countJunk(`an open of stream ${this.id}: ${reason}`);
    } catch (fault) {
      this.host.fail(fault);
    }
  }

  /** Resets the stream because the remote broke a rule on it. */
  resetForViolation(code: ResetCode, reason: string): void {
    this.reset('library', code, this.host.noted(reason));
    this.host.flood.countProvokedReset(code);
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

  /** The remote goes away and has not processed this stream. */
  refusedByGoaway(reason: string): void {
    this.#abandon('recvReset', { how: 'reset', by: 'library', code: ResetCode.REFUSED, reason, payload: null });
  }

  /** The socket is gone. */
  connectionLost(reason: CloseReason): void {
    this.#abandon('lose', { how: 'lost', reason });
  }

  #countedUnread(): UnreadBytes {
    return (this.#unread ??= new CountedUnreadBytes(this, this.host.receiveBudget));
  }

  #opened(frame: CompleteFrame): void {
    this.advance('recvOpen');
    if (frame.end) this.advance('recvEnd');
    const stays = frame.payload !== ABSENT || frame.headers !== null || frame.trailers !== null;
    if (stays && !this.#attaches(frame)) return;
    try {
      this.host.owner.accept(this, frame);
    } catch (error) {
      this.#broken(error);
    }
  }

  #data(frame: CompleteFrame): void {
    if (frame.headers !== null && !this.#headersDue) log('debug', `stream ${this.id}: ignored headers on a later frame`);
    const stays = frame.trailers !== null || (frame.headers !== null && this.#headersDue);
    this.#headersDue = false;
    const over = frame.end && this.closesWith('recvEnd');
    if (over) this.#leave('recvEnd', ENDED);
    else if (frame.end) this.advance('recvEnd');
    if (stays && !over && !this.#attaches(frame)) return;
    try {
      this.sink.receive(frame);
    } catch (error) {
      this.#broken(error);
    }
    if (over) this.#tell(this.cause);
  }

  #resetByRemote(frame: CompleteFrame): void {
    if (this.#slot?.running === true) this.host.flood.countEarlyReset();
    this.host.scheduler.backlog.drop(this.id);
    const payload = frame.payload === ABSENT ? null : frame.payload;
    this.#closeAndTell('recvReset', { how: 'reset', by: 'remote', code: frame.code, reason: frame.reason ?? '', payload });
  }

  /** Counts the frame that is being delivered, which stays with the stream; `false` when that was too much and the stream has been reset. */
  #attaches({ payload, headers, trailers }: CompleteFrame): boolean {
    const kept = headers === null && trailers === null ? payload : [payload, headers, trailers];
    const bytes = this.weigh(kept, this.host.arrivedBytes);
    const excess = this.host.receiveBudget.attach(bytes);
    if (excess === null) this.#attachedBytes += bytes;
    else this.#overrun(excess);
    return excess === null;
  }

  /** A payload finds no room. */
  #overrun(excess: Excess): void {
    const { code } = excess;
    const reason = this.host.noted(excess.reason);
    // On a stream that the same frame has closed there is nobody to answer, but its reader misses something.
    if (this.closed) this.close('lose', { how: 'reset', by: 'library', code, reason, payload: null });
    else this.reset('library', code, reason);
  }

  /** The socket does not take the stream any further. */
  #abandon(input: StreamInput, cause: CloseCause): void {
    if (this.closed) return;
    const unsent = this.host.scheduler.backlog.withdraw(this.id);
    this.#leave(input, cause);
    let isTaken = false;
    try {
      isTaken = this.#unsent && this.sink.takeBack?.(unsent) === true;
    } catch (error) {
      this.#broken(error);
    }
    if (isTaken) this.host.streamReleased(this);
    else {
      this.#tell(cause);
      runAll(unsent.waiters);
    }
  }

  #closeAndTell(input: StreamInput, cause: CloseCause): void {
    this.#leave(input, cause);
    this.#tell(cause);
  }

  /** Streams leave the connection before anybody is told. */
  #leave(input: StreamInput, cause: CloseCause): void {
    this.close(input, cause);
    this.seal();
    this.#slot?.close();
    // Its reader holds nobody up any more.
    if (this.#unread !== null) this.host.reading.unblock(this);
    this.host.streamClosed(this);
  }

  #tell(cause: CloseCause): void {
    try {
      this.sink.gone(cause);
    } catch (error) {
      this.#broken(error);
    }
    if (this.#slot?.running !== true) this.#discount();
    this.host.streamReleased(this);
  }

  /** Nobody works on the stream any more. */
  #discount(): void {
    this.#unread = (this.#unread ?? UNCOUNTED).drop();
    if (this.#attachedBytes > 0) this.host.receiveBudget.detach(this.#attachedBytes);
    this.#attachedBytes = 0;
  }

  /** The owner's code has thrown, which ends this stream and nothing else. */
  #broken(error: unknown): void {
    log('error', `stream ${this.id}: internal error`, error);
    this.reset('library', ResetCode.INTERNAL_ERROR, 'internal error');
  }
}
