import { log } from '../../logger.js';
import type { Sink } from '../../operators/route.js';
import { StreamFault } from '../../wire/fault.js';
import type { FrameOf, StreamFrame } from '../../wire/frame-types.js';
import { ABSENT } from '../../wire/frame.js';
import type { CompleteFrame, Frame } from '../../wire/frame.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import { ResetCode } from '../../wire/reset-code.js';
import { pullsOf } from '../send/pulls.js';
import { EndingStream } from './ending-stream.js';
import type { StreamLine } from './stream-line.js';

/** One live stream of one socket: it sends and receives frames, and advances its state. It knows no Observable. */
export class LiveStream extends EndingStream implements StreamLine, Sink<CompleteFrame | StreamFault> {
  get hasRoom(): boolean {
    return this.closed || this.host.scheduler.backlog.hasRoom(this.id);
  }

  get hasDemand(): boolean {
    return this.closed || pullsOf(this.host.scheduler).hasDemand(this.id);
  }

  get arrivedBytes(): number {
    return this.host.arrivedBytes;
  }

  overflowsWith(bytes: number): boolean {
    return this.host.scheduler.backlog.overflowsWith(this.id, bytes);
  }

  whenRoom(task: () => void): void {
    if (this.closed) task();
    else this.host.scheduler.backlog.whenRoom(this.id, task);
  }

  whenDemand(task: () => void): void {
    if (this.closed) task();
    else pullsOf(this.host.scheduler).whenDemand(this.id, task);
  }

  // Outbound

  send(frame: OutgoingFrame): void {
    if (this.sealed) return;
    if (frame.end) this.advance('seal');
    frame.stream = this.id;
    if (this.isNotification) this.host.notifications.queued(this, frame);
    this.host.scheduler.add(frame);
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

  // Inbound

  /** Whether the remote may send data now. */
  expectsData(): boolean {
    return this.accepts('recvData');
  }

  /** Receives each whole frame of the remote on this stream. */
  next(value: StreamFrame | StreamFault): void {
    if (value instanceof StreamFault) this.resetForViolation(value.code, value.reason);
    else if (value.type === 'open') this.#opened(value);
    else if (value.type === 'reset') this.resetByRemote(value);
    else this.#data(value);
  }

  /** The owner refuses a stream that the remote has opened. */
  refuse(reason: string): void {
    this.reset('library', ResetCode.REFUSED, reason);
    // An error of `owner.accept` ends only the stream. A flood must end the connection, so catch its fault here.
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

  #opened(frame: FrameOf<'open'>): void {
    this.advance('recvOpen');
    if (frame.end) this.advance('recvEnd');
    const stays = frame.payload !== ABSENT || frame.headers !== null || frame.trailers !== null;
    if (stays && !this.attach(frame)) return;
    try {
      this.host.owner.accept(this, frame);
    } catch (error) {
      this.broken(error);
    }
  }

  #data(frame: FrameOf<'data'>): void {
    const { headersDue } = this;
    if (headersDue) this.advance('recvData');
    else if (frame.headers !== null) log('debug', `stream ${this.id}: ignored headers on a later frame`);
    const stays = frame.trailers !== null || (frame.headers !== null && headersDue);
    const over = frame.end && this.advance('recvEnd') && this.closed;
    if (over) this.close();
    if (stays && !over && !this.attach(frame)) return;
    try {
      this.sink.receive(frame);
    } catch (error) {
      this.broken(error);
    }
    if (over) this.release();
  }
}
