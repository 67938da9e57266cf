import { log } from '../logger.js';
import type { Sink } from '../operators/route.js';
import { ENDED } from '../session/base/close-cause.js';
import type { CloseCause } from '../session/base/close-cause.js';
import { overtakes } from '../session/base/precedence.js';
import { runAll } from '../session/base/waiters.js';
import type { Unsent } from '../session/send/backlog.js';
import { resetFrame } from '../session/send/control-frames.js';
import { NO_EXTRAS } from '../session/streams/live-stream-host.js';
import type { LiveStreamHost, ResetExtras, WaitingFrames } from '../session/streams/live-stream-host.js';
import { releaseTasks } from '../session/streams/lose-socket.js';
import { ResetCode } from '../wire/codes.js';
import { StreamFault } from '../wire/fault.js';
import type { FrameOf, StreamFrame } from '../wire/frame-types.js';
import { ABSENT } from '../wire/frame.js';
import type { CompleteFrame, Frame } from '../wire/frame.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import { Holdings } from './receiving.js';
import { StreamState } from './state.js';

/** Codes of resets by the library without a fault of the remote: an unread upload, the streams left by a drain, and a caller's deadline. */
const WELL_MEANT: ReadonlySet<ResetCode> = new Set([ResetCode.NO_ERROR, ResetCode.CANCEL, ResetCode.DEADLINE_EXCEEDED]);

/**
 * One stream: it sends and receives frames, and advances its state. Its owner extends it. A stream without a socket has only its
 * {@link waiting} frames. A stream ends in three steps:
 *
 * 1. The state moves to its last row. {@link close} then releases the id in the table, unfinished payloads and, unless a handler or an
 *    unwritten reset holds it, the place of `maxStreams`.
 * 2. {@link gone} receives the cause.
 * 3. {@link release} releases the bytes, unless a handler still runs. Then it runs the tasks that waited on the stream, and notifies the drain.
 *
 * A reset by the remote drops the queued frames before the first step. So does a reset by this side that overtakes them.
 */
export abstract class LiveStream extends StreamState implements Sink<CompleteFrame | StreamFault> {
  /** `null` while no socket has accepted the stream. */
  id: number | null = null;
  /** The session whose socket has accepted the stream. */
  session: LiveStreamHost | null = null;
  /** The frames that wait for a socket. `null` once a socket has accepted the stream, and for a stream that ends before it is queued. */
  waiting: WaitingFrames | null = null;
  /** The cause of the stream's end; `null` while the stream is live. It is set after the phase, once the closing frame was delivered. */
  cause: CloseCause | null = null;
  /** Of a remote's stream; otherwise created when the stream first holds something. */
  #held: Holdings | null = null;

  constructor(
    local: boolean,
    /** A `notify`: no answer is expected. */
    readonly isNotification: boolean,
  ) {
    super(local);
  }

  /** The open of a remote's stream has arrived whole. An error that this throws ends only the stream. */
  abstract accept(open: CompleteFrame): void;
  /** Receives one whole `data` frame of the remote, right after the phase has changed. An error that this throws ends only the stream. */
  abstract receive(frame: CompleteFrame): void;
  /** The stream has its {@link cause}. No frame follows. `error` is the error for the stream's user, in place of the cause's plain error. */
  abstract gone(cause: CloseCause, error?: unknown): void;
  /** Makes the frames and tasks of an unsent stream {@link waiting} for the next socket. Returns `false` if none will come. */
  abstract requeue(unsent: Unsent): boolean;

  /** Returns the session of a stream that a socket has accepted. */
  #connection(): LiveStreamHost {
    if (this.session === null) throw new TypeError('expected a stream that a socket has accepted, got one that waits');
    return this.session;
  }

  /** A socket accepts the stream. A stream of the remote takes one of the places of `maxStreams`. */
  enter(session: LiveStreamHost, id: number): void {
    this.session = session;
    this.id = id;
    this.waiting = null;
    if (!this.local) this.#held = new Holdings(this, session).takePlace();
  }

  /** Queues one frame under the stream's id; drops a frame after the end. */
  send(frame: OutgoingFrame): void {
    if (this.sealed) return;
    if (frame.end) this.advance('seal');
    const { waiting, session } = this;
    if (waiting !== null) waiting.add(frame);
    else if (session !== null) {
      frame.stream = this.id;
      if (this.isNotification) session.notifications.queued(this, frame);
      session.scheduler.add(frame);
    }
  }

  /** The pipeline is about to write a frame or slice of this stream. Returns whether it ends the stream; if so, {@link release} follows. */
  leaving(slice: Frame): boolean {
    if (slice.type === 'open') this.advance('sendOpen');
    if (slice.end !== true) return false;
    // A notification awaits no answer.
    const closes = this.advance(this.isNotification ? 'close' : 'sendEnd') && this.closed;
    if (closes) this.close();
    return closes;
  }

  /** Receives each whole frame of the remote on this stream. */
  next(value: StreamFrame | StreamFault): void {
    if (value instanceof StreamFault) this.resetForViolation(value.code, value.reason);
    else if (value.type === 'open') this.#opened(value);
    else if (value.type === 'reset') this.#resetByRemote(value);
    else this.#data(value);
  }

  #opened(frame: FrameOf<'open'>): void {
    this.advance('recvOpen');
    if (frame.end) this.advance('recvEnd');
    const stays = frame.payload !== ABSENT || frame.headers !== null || frame.trailers !== null;
    if (stays && !this.held.attach(frame)) return;
    try {
      this.accept(frame);
    } catch (error) {
      this.#broken(error);
    }
  }

  #data(frame: FrameOf<'data'>): void {
    const { headersDue } = this;
    if (headersDue) this.advance('recvData');
    else if (frame.headers !== null) log('debug', `stream ${this.id}: ignored headers on a later frame`);
    const stays = frame.trailers !== null || (frame.headers !== null && headersDue);
    const over = frame.end && this.advance('recvEnd') && this.closed;
    if (over) this.close();
    if (stays && !over && !this.held.attach(frame)) return;
    try {
      this.receive(frame);
    } catch (error) {
      this.#broken(error);
    }
    if (over) this.release();
  }

  /** The stream's share of the connection that has accepted it. */
  get held(): Holdings {
    return (this.#held ??= new Holdings(this, this.#connection()));
  }

  /** A user has taken a stream that the remote opened. The stream counts as dispatched. */
  taken(): void {
    if (!this.local) this.#connection().control.goaway.dispatched(Number(this.id));
  }

  /** A handler of a remote stream has started. The stream keeps its place until the handler has settled, whatever the remote does. */
  handlerStarted(): void {
    if (!this.local) this.held.handlerStarted();
    this.taken();
  }

  /** The handler has settled. */
  handlerSettled(): void {
    if (!this.local) this.held.handlerSettled();
  }

  /** Ends the stream with a reset of this side; does nothing on a closed stream. The remote hears it if it knows the stream. */
  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, extras: ResetExtras = NO_EXTRAS): void {
    if (this.closed) return;
    const { payload = null, encodedPayload = null, error } = extras;
    const cause: CloseCause = { how: 'reset', by, code, reason, payload };
    const { session } = this;
    if (session === null) {
      this.fail(cause, error);
      return;
    }
    const { streams, scheduler, owner } = session;
    const id = Number(this.id);
    if (by === 'library' && !this.local && code !== null && !WELL_MEANT.has(code)) owner.refused(code, reason);
    if (!this.local) streams.awaitReset(id, this.held);
    this.advance('sendReset');
    this.close();
    const isAhead = overtakes(code);
    if (isAhead) scheduler.backlog.drop(id);
    // If the open was dropped, the remote does not know the stream.
    if (!isAhead || !this.unsent) scheduler.addReset(resetFrame(session, id, code, reason, payload, encodedPayload), isAhead);
    this.release(cause, error);
  }

  /** Resets the stream because the remote broke a rule on it. */
  resetForViolation(code: ResetCode, reason: string): void {
    this.reset('library', code, this.#connection().noted(reason));
    this.#connection().flood.countProvokedReset(code);
  }

  /** The owner refuses a stream that the remote has opened. */
  refuse(reason: string): void {
    this.reset('library', ResetCode.REFUSED, reason);
    // An error of `accept` ends only the stream. A flood must end the connection, so catch its fault here.
    try {
      this.#connection().flood.countJunk(`an open of stream ${this.id}: ${reason}`);
    } catch (fault) {
      this.#connection().fail(fault);
    }
  }

  /** Ends a stream that no socket has accepted. */
  fail(cause: CloseCause, error?: unknown): void {
    if (this.closed) return;
    this.advance('close');
    const tasks = this.waiting?.leave() ?? [];
    this.waiting = null;
    this.cause = cause;
    this.gone(cause, error);
    runAll(tasks);
  }

  #resetByRemote({ code, reason, payload }: FrameOf<'reset'>): void {
    const { flood, scheduler } = this.#connection();
    if (this.#held?.isRunning === true) flood.countEarlyReset();
    scheduler.backlog.drop(Number(this.id));
    this.advance('recvReset');
    this.close();
    this.release({ how: 'reset', by: 'remote', code, reason: reason ?? '', payload: payload === ABSENT ? null : payload });
  }

  /** The owner's code has thrown. The error ends only this stream. */
  #broken(error: unknown): void {
    log('error', `stream ${this.id}: internal error`, error);
    this.reset('library', ResetCode.INTERNAL_ERROR, 'internal error');
  }

  /** Removes the stream from its connection, before its user sees the end. */
  close(): void {
    const { streams, reassembly } = this.#connection();
    const id = Number(this.id);
    this.#held?.close();
    streams.delete(id);
    reassembly.release(id);
  }

  /** Reports the end to the user of a closed stream, and releases the rest. */
  release(cause: CloseCause = this.#held?.overrun ?? ENDED, error?: unknown): void {
    const session = this.#connection();
    session.owner.tally.ended(cause);
    this.cause = cause;
    try {
      this.gone(cause, error);
    } catch (failure) {
      this.#broken(failure);
    }
    this.#held?.release();
    releaseTasks(session, this, Number(this.id));
  }
}
