import type { Sink } from '../operators/demultiplex.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { Message } from '../wire/codec.js';
import { StreamFault } from '../wire/fault.js';
import { ABSENT } from '../wire/frame.js';
import type { CompleteFrame, Frame } from '../wire/frame.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import { ResetCode } from '../wire/reset-code.js';
import { ENDED } from './close-cause.js';
import type { CloseCause } from './close-cause.js';
import type { Session } from './session.js';
import { advance } from './stream-state.js';
import type { StreamInput, StreamPhase } from './stream-state.js';

/** Who holds a stream: told of everything that comes in on it, and of its end. */
export interface StreamSink {
  /** One whole frame of the remote: `data`, behind the stream's phase and before anything else. */
  receive(frame: CompleteFrame): void;
  /** The stream has left the connection; nothing follows. */
  gone(cause: CloseCause): void;
}

/** Where a stream's frames go: a live stream of a socket, or a place in the queue of those that wait for one. */
export interface StreamLine {
  /** `null` until a socket has taken the stream. */
  readonly id: number | null;
  readonly phase: StreamPhase;
  /** Whether this side may send nothing more: its `end` is accepted, or the stream is closed. */
  readonly sealed: boolean;
  /** Whether nothing of the stream has ever left. */
  readonly unsent: boolean;
  /** Whether more can be sent without growing a queue that is already long. */
  readonly hasRoom: boolean;
  /** Whether so much waits on all streams that a sender which does not wait has to fail. */
  readonly overflows: boolean;
  /** Bytes of the payload that is being delivered. */
  readonly arrivedBytes: number;
  /** Queues one frame. Its payload has been encoded by the caller. */
  send(frame: Omit<Frame, 'stream'>, encodedPayload: Message | null): void;
  /** Runs `task` once there is room, or nothing to wait for any more. */
  whenRoom(task: () => void): void;
  /** Ends the stream with a reset; does nothing on a closed one. */
  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, payload?: unknown, encodedPayload?: Message | null): void;
  /** Counts a payload that waits to be read; `false` when that was too much and the stream has been reset. */
  keep(bytes: number): boolean;
  /** A payload that waited has been read or dropped. */
  read(bytes: number): void;
}

/** Holds a stream that nobody listens to any more. */
const NOBODY: StreamSink = {
  receive() {
    // Whatever comes is dropped.
  },
  gone() {
    // Nobody to tell.
  },
};

/** One live stream of one socket: its id, its phase, and the way its frames take in and out. It knows no Observable. */
export class LiveStream implements StreamLine, Sink<CompleteFrame | StreamFault> {
  sink: StreamSink = NOBODY;
  #phase: StreamPhase = 'idle';
  #sealed = false;
  #cause: CloseCause | null = null;
  #unread = 0;
  #running = false;
  #unsent = true;

  constructor(
    private readonly session: Session,
    readonly id: number,
    /** Whether this side opened it. */
    readonly local: boolean,
    /** Whether nothing is wanted of it once its open has left. */
    private readonly forgotten = false,
  ) {}

  get phase(): StreamPhase {
    return this.#phase;
  }

  get sealed(): boolean {
    return this.#sealed || this.#phase === 'closed';
  }

  get cause(): CloseCause | null {
    return this.#cause;
  }

  /** Whether the handler is at work. */
  get running(): boolean {
    return this.#running;
  }

  /** The handler begins; its place is kept until it settles, whatever the remote does. */
  run(): void {
    this.#running = true;
    this.taken();
  }

  /** Somebody works on the stream from here on: it counts as dispatched. */
  taken(): void {
    this.session.connection.goaway.dispatched(this.id);
  }

  settle(): void {
    if (!this.#running) return;
    this.#running = false;
    if (this.#phase === 'closed') this.session.streams.vacate();
  }

  send(frame: Omit<Frame, 'stream'>, encodedPayload: Message | null): void {
    if (this.#phase === 'closed') return;
    if (frame.end === true) this.#sealed = true;
    this.session.send(new OutgoingFrame({ ...frame, stream: this.id }, encodedPayload));
  }

  /** Accepts nothing more; what is queued still goes out. */
  seal(): void {
    this.#sealed = true;
  }

  get unsent(): boolean {
    return this.#unsent;
  }

  get hasRoom(): boolean {
    return this.session.scheduler.hasRoom(this.id);
  }

  get overflows(): boolean {
    return this.session.scheduler.unsentBytes >= this.session.limits.maxUnsentBytes;
  }

  whenRoom(task: () => void): void {
    this.session.scheduler.whenRoom(this.id, task);
  }

  reset(
    by: 'user' | 'library',
    code: ResetCode | null,
    reason: string,
    payload: unknown = null,
    encodedPayload: Message | null = null,
  ): void {
    if (this.#phase === 'closed') return;
    const cause: CloseCause = { how: 'reset', by, code, reason, payload };
    this.#leave('sendReset', cause);
    this.session.send(
      new OutgoingFrame({ type: 'reset', stream: this.id, code, reason: this.session.cutReason(reason), payload }, encodedPayload),
    );
    this.sink.gone(cause);
  }

  /** A frame or slice of this stream has left. */
  sent(slice: Frame): void {
    this.#unsent = false;
    if (this.#phase === 'idle') this.#advance('sendOpen');
    if (slice.end !== true || slice.more === true) return;
    if (this.forgotten) this.#close('lose', ENDED);
    else if (this.#wouldClose('sendEnd')) this.#close('sendEnd', ENDED);
    else this.#advance('sendEnd');
  }

  /** Whatever the remote sent on this stream. */
  next(value: CompleteFrame | StreamFault): void {
    if (value instanceof StreamFault) this.violated(value.code, value.reason);
    else if (value.type === 'open') this.#opened(value);
    else if (value.type === 'reset') this.#resetByRemote(value);
    else this.#data(value);
  }

  /** Resets the stream because the remote broke a rule on it. */
  violated(code: ResetCode, reason: string): void {
    this.reset('library', code, reason);
    this.session.flood.provokedReset(code);
  }

  keep(bytes: number): boolean {
    const { limits, held, reading } = this.session;
    const unread = this.#unread + bytes;
    if (unread > limits.maxUnreadBytes) {
      this.reset(
        'library',
        ResetCode.FLOW_CONTROL,
        `${unread} unread bytes are over the limit of ${limits.maxUnreadBytes} (maxUnreadBytes)`,
      );
      return false;
    }
    if (!held.take(bytes)) {
      this.reset(
        'library',
        ResetCode.ENHANCE_YOUR_CALM,
        `${held.used + bytes} bytes held by this connection are over the limit of ${held.limit} (maxHeldBytes)`,
      );
      return false;
    }
    this.#unread = unread;
    if (unread >= limits.pauseBytes) reading.crowd(this);
    return true;
  }

  read(bytes: number): void {
    const { limits, held, reading } = this.session;
    held.give(bytes);
    this.#unread -= bytes;
    if (this.#unread < limits.pauseBytes) reading.clear(this);
  }

  get arrivedBytes(): number {
    return this.session.arrivedBytes;
  }

  /** The remote goes away without having processed this stream. */
  refused(reason: string): void {
    this.session.scheduler.drop(this.id);
    this.#close('recvReset', { how: 'reset', by: 'library', code: ResetCode.REFUSED, reason, payload: null });
  }

  /** The socket is gone. */
  lose(reason: CloseReason): void {
    if (this.#phase !== 'closed') this.#close('lose', { how: 'lost', reason });
  }

  #opened(frame: CompleteFrame): void {
    this.#advance('recvOpen');
    if (frame.end) this.#advance('recvEnd');
    this.session.complete(this, frame);
  }

  #data(frame: CompleteFrame): void {
    if (advance(this.#phase, 'recvData') === null) {
      this.violated(ResetCode.STREAM_CLOSED, `expected nothing after 'end', got data`);
      return;
    }
    if (frame.payload === ABSENT && !frame.end && frame.headers === null) {
      this.session.flood.junk(`data of stream ${this.id} without payload, fragment, end or headers`);
      return;
    }
    const over = frame.end && this.#wouldClose('recvEnd');
    if (over) this.#leave('recvEnd', ENDED);
    else if (frame.end) this.#advance('recvEnd');
    this.sink.receive(frame);
    if (over) this.sink.gone(ENDED);
  }

  #resetByRemote(frame: CompleteFrame): void {
    if (this.#running) this.session.flood.earlyReset();
    this.session.scheduler.drop(this.id);
    const payload = frame.payload === ABSENT ? null : frame.payload;
    this.#close('recvReset', { how: 'reset', by: 'remote', code: frame.code, reason: frame.reason ?? '', payload });
  }

  #close(input: StreamInput, cause: CloseCause): void {
    this.#leave(input, cause);
    this.sink.gone(cause);
  }

  /** Streams leave the connection before anybody is told. */
  #leave(input: StreamInput, cause: CloseCause): void {
    this.#advance(input);
    this.#cause = cause;
    this.session.left(this);
  }

  #wouldClose(input: StreamInput): boolean {
    return advance(this.#phase, input) === 'closed';
  }

  #advance(input: StreamInput): void {
    this.#phase = advance(this.#phase, input) ?? this.#phase;
  }
}
