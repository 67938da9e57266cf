import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { log } from '../../logger.js';
import type { Message } from '../../wire/codec.js';
import type { Frame } from '../../wire/frame.js';
import { encodedPartOf, OutgoingFrame } from '../../wire/outgoing.js';
import { ResetCode } from '../../wire/reset-code.js';
import type { LiveStream } from '../streams/live-stream.js';
import { fittingReason } from '../base/reason.js';
import { Scheduler } from './scheduler.js';
import type { Departures } from './scheduler.js';
import type { Session } from '../session.js';

/** Where the outbound pipeline begins: the frames that were accepted for sending, and what becomes of each. */
export class FrameOutbox implements Departures {
  readonly scheduler: Scheduler;
  /** The frames that were accepted for sending, for the session's outbound pipeline. */
  readonly accepted$: Observable<OutgoingFrame>;
  #pipeline: Subscriber<OutgoingFrame> | null = null;
  /**
   * What the pipeline made of the frame that is in it: a message, or an error. The pipeline is synchronous: it calls {@link encoded} or
   * {@link unencoded} before the scheduler calls {@link write} for the same frame. Neither is called for a frame that the remote does not need.
   */
  #message: Message | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(private readonly session: Session) {
    this.scheduler = new Scheduler(session.transport, session.limits, this, session.transit);
    // No Subject: there is one subscriber, and every frame comes this way.
    this.accepted$ = new Observable((pipeline) => {
      this.#pipeline = pipeline;
    });
  }

  /** Queues one whole frame. */
  send(frame: OutgoingFrame): void {
    this.#pipeline?.next(frame);
  }

  /** A reset with as much of its reason as fits a message. */
  resetFrame(
    stream: number,
    code: ResetCode | null,
    reason: string,
    payload: unknown = null,
    encodedPayload: Message | null = null,
  ): OutgoingFrame {
    const frame = { type: 'reset', stream, code };
    return new OutgoingFrame(
      { ...frame, reason: this.fittingReason(reason, frame, encodedPayload), payload },
      encodedPayload,
      this.session.codec,
    );
  }

  /** As much of a reason as fits a message beside the rest of its frame. */
  fittingReason(reason: string, frame: Frame, encodedPayload: Message | null): string | null {
    return fittingReason(reason, frame, encodedPayload, this.session.maxFrameBytes, this.session.codec);
  }

  /** Drops what is left of a stream that is closed here: the remote wants no more of it. */
  forget(stream: number): void {
    this.scheduler.backlog.drop(stream);
    this.session.streams.resetWritten(stream);
    this.scheduler.release(stream);
  }

  /** Whether a frame is for the remote: it is told nothing of a stream whose open has never left, unless it asked. */
  isForRemote(frame: Frame): boolean {
    const { streams, replies } = this.session;
    const stream = frame.stream ?? 0;
    return frame.type !== 'reset' || !streams.owns(stream) || streams.hasOpened(stream) || replies.owes(frame);
  }

  /** The message of the frame that is in the pipeline. */
  encoded(message: Message): void {
    this.#message = message;
  }

  /** The frame that is in the pipeline could not be encoded. */
  unencoded(error: unknown): void {
    this.#failure = { error };
  }

  write(slice: Frame): void {
    const [message, failure] = [this.#message, this.#failure];
    this.#message = this.#failure = null;
    this.session.replies.sent(slice);
    if (failure !== null) {
      this.unsendable(slice, failure.error);
      return;
    }
    // The state moves before the socket is called: a socket may deliver the answer within `send`.
    const ended = this.#leaving(slice);
    if (message !== null) this.session.write(message);
    if (slice.type === 'ping') this.session.control.pinged(String(slice.nonce));
    ended?.endWritten();
  }

  broken(error: unknown): void {
    this.session.fail(error);
  }

  /** A frame cannot be cut or written after all: its stream ends, and nothing else does. */
  unsendable(frame: Frame, error: unknown): void {
    const stream = frame.stream ?? 0;
    const isReset = frame.type === 'reset';
    if (stream === 0 || (isReset && encodedPartOf(frame) === null)) {
      this.session.fail(error);
      return;
    }
    log('error', `stream ${stream}: a frame of type '${frame.type}' could not be encoded`, error);
    const live = this.session.streams.get(stream);
    if (live !== undefined) live.reset('library', ResetCode.INTERNAL_ERROR, 'a frame could not be encoded');
    else {
      // The stream is closed and this was on its way out; a reset goes without what cannot be encoded.
      this.scheduler.backlog.drop(stream);
      this.send(this.resetFrame(stream, isReset ? (frame.code ?? null) : ResetCode.INTERNAL_ERROR, frame.reason ?? ''));
    }
  }

  /** A frame or slice is about to be written; returns the stream that it ends. */
  #leaving(slice: Frame): LiveStream | null {
    const { streams } = this.session;
    const stream = slice.stream ?? 0;
    if (slice.type === 'reset') {
      if (slice.more !== true) streams.resetWritten(stream);
      return null;
    }
    if (slice.type === 'open') streams.opened(stream);
    const live = streams.get(stream);
    return live?.leaving(slice) === true ? live : null;
  }
}
