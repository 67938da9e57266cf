import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { log } from '../logger.js';
import { mapPresent, run } from '../rx/pipeline.js';
import type { PipelineHost } from '../rx/pipeline.js';
import { overtakes } from '../stream/end.js';
import { SPARED_BYTES, STREAM_ROOM_BYTES, runAll, takeTasks } from '../stream/sending.js';
import type { Cut } from '../stream/sending.js';
import type { Place, StreamCore } from '../stream/stream-core.js';
import { Fifo, LazyMap, LazySet } from '../util/collections.js';
import { ResetCode } from '../wire/codes.js';
import { slicerToSend } from '../wire/fragment.js';
import { ABSENT } from '../wire/frame.js';
import type { Frame } from '../wire/frame.js';
import { encodedPartOf, frameEncoder } from '../wire/outgoing.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import { MIN_CHARGE_BYTES } from '../wire/reassembly.js';
import type { EncodedFrame, FrameEncoder } from '../wire/shared.js';
import { BULK_FRAME_BYTES, BulkWindow } from './bulk-window.js';
import type { Connection } from './connection.js';
import { resetFrame } from './replies.js';

/** Writing stops while the socket holds this many bytes. */
export const SOCKET_FULL_BYTES = 1024 * 1024;
/** Writing resumes once the socket has drained to this many bytes. */
const SOCKET_ROOM_BYTES = 256 * 1024;
/** The most bytes that one turn of the event loop writes, so that reading and timers run in between. */
export const TURN_BYTES = 128 * 1024;
/**
 * The most streams in a row that are asked for a frame without an answer. An async source answers some microtasks later, and is then asked
 * again. Few such sources use up the share of a turn. The values of more sources would have to wait for the next turn.
 */
const MOST_UNANSWERED = 16;

/** A frame or slice on its way out, with its stream; `null` for a frame of the connection, and for a notification that leaves at once. */
interface Departure {
  readonly frame: Frame;
  readonly stream: StreamCore | null;
  /** `null` before it is encoded. */
  message: EncodedFrame | null;
}

/** Encodes the frame of a departure. */
function encoded(this: FrameEncoder, departure: Departure): Departure {
  departure.message ??= this(departure.frame);
  return departure;
}

/**
 * The way out: `departures$ ─ observe ─ encode ─ write` is one pipeline. Control frames leave first, then one frame or slice of each stream in
 * turn. A slice is cut only at its turn, so a small request overtakes a big transfer. While the socket has room, nothing is copied or queued.
 *
 * Streams keep their own frames and tasks; this keeps their order. It writes what the socket takes, and in each turn of the event loop a share.
 * It paces bulk by a window. Bulk means slices, large frames, and the many small values of one source.
 */
export class Outbound implements Place, PipelineHost {
  /** How many frames wait for their turn, control frames too. A frame that has left in part is one. */
  frames = 0;
  /** Queued bytes of payload of all streams. */
  bytes = 0;
  /** Paces bulk; `null` before the first. */
  window: BulkWindow<StreamCore> | null = null;
  /** Whether the last frame that left was a slice or a large frame. */
  isLastBulk = false;
  readonly #control = new Fifo<Departure>();
  /** Streams with queued frames, in the order of their turns. A new one comes last, so opens leave in the order of their ids. */
  readonly #turns = new LazySet<StreamCore>();
  /** Streams whose tasks wait for room. */
  readonly #room = new LazySet<StreamCore>();
  /** Streams that wait to be pulled, in the order of their turns. */
  readonly #demand = new LazySet<StreamCore>();
  /** Closed streams whose reset is queued, by id. */
  readonly #resets = new LazyMap<number, StreamCore>();
  #pipeline: Subscriber<Departure> | null = null;
  /** The departure in the pipeline, until its message is written. */
  #departing: Departure | null = null;
  /** The frame that left last of all; `undefined` before the end. */
  #last: OutgoingFrame | null | undefined;
  #pumping = false;
  /** Made for the first queued frame. */
  #cut: Cut | null = null;
  /** Made for the first task. */
  #whenFlushed: (() => void)[] | null = null;
  /** Whether the socket is full, or the share of this turn is used up. */
  #isWaiting = false;
  /** Whether only the next turn may pull more. */
  #isResting = false;
  /** Bytes written since the last wait for a turn. */
  #turnBytes = 0;
  /** Whether the queues have become short enough since {@link #relieve} last ran. */
  #isRelieved = false;
  /** How many frames were accepted so far. */
  #accepted = 0;
  #isPulling = false;
  /** A pulled stream may send exactly one frame now, until one more frame than this was accepted; -1 for none. */
  #grantedAt = -1;
  /** The stream that was pulled last. */
  #pulled: StreamCore | null = null;
  /** The stream of the last frame that left, if more may follow. */
  #lastStream: StreamCore | null = null;
  /** The notification that is leaving in several messages. Later ones wait for it, or the remote might handle them earlier (S9a). */
  #notification: StreamCore | null = null;

  constructor(private readonly connection: Connection) {
    connection.share?.onRoom(() => {
      this.#isRelieved = true;
      this.pump();
    });
  }

  /** Makes the way out ready. */
  start(): void {
    const { transport, codec } = this.connection;
    const encode: FrameEncoder = (transport.encoder ?? frameEncoder)(codec);
    // A Subject would cost more: every frame passes here, to one subscriber.
    const departures$ = new Observable<Departure>((pipeline) => {
      this.#pipeline = pipeline;
    });
    const [observe, write] = [this.#observe, this.#write];
    run(departures$.pipe(mapPresent(observe, this), mapPresent(encoded, encode), mapPresent(write, this)), this);
  }

  // From streams

  add(stream: StreamCore, frame: OutgoingFrame): void {
    if (!frame.isSmall && stream.isNotification) this.#notification = stream;
    if (frame.isSmall && this.passes(stream)) this.send({ frame, stream, message: null }, frame.roughBytes);
    else {
      this.#accepted++;
      const bytes = stream.ownSending.add(frame);
      this.#turns.add(stream);
      this.frames++;
      this.#added(bytes);
      this.pump();
    }
  }

  /** Takes the frames that a stream has queued while it had no socket. {@link pump} sends them. */
  take(stream: StreamCore): void {
    const { sending } = stream;
    if (sending === null || sending.frames === 0) return;
    this.#accepted += sending.frames;
    if (stream.isNotification && !sending.front.isSmall) this.#notification = stream;
    this.#turns.add(stream);
    this.frames += sending.frames;
    this.#added(sending.bytes);
  }

  /** Queues a frame that fits one message, ahead of all streams. */
  addAhead(frame: OutgoingFrame, stream: StreamCore | null = null): void {
    if (this.#isDirect()) this.#sendDirectly({ frame, stream, message: null }, 0);
    else if (!this.#hasEnded()) {
      this.frames++;
      this.#control.push({ frame, stream, message: null });
      this.pump();
    }
  }

  /** Queues a reset. One that overtakes drops the frames before it. It goes ahead, unless it has a payload, which may need slices. */
  addReset(stream: StreamCore, reset: OutgoingFrame, isAhead: boolean): void {
    if (isAhead) this.drop(stream);
    if (isAhead && reset.payload === ABSENT) this.addAhead(reset, stream);
    else this.add(stream, reset);
    if (stream.isResetting) this.#resets.set(Number(stream.id), stream);
  }

  /** Takes a stream out of the order of turns. Its frames and tasks stay in the stream. */
  remove(stream: StreamCore): void {
    const { sending } = stream;
    this.#room.delete(stream);
    this.#demand.delete(stream);
    if (sending !== null && this.#turns.delete(stream)) this.#left(sending.frames, sending.bytes);
  }

  /** Drops the queued frames of a stream. */
  drop(stream: StreamCore): void {
    const { sending } = stream;
    if (sending === null || !this.#turns.delete(stream)) return;
    this.#left(sending.frames, sending.bytes);
    sending.drop();
  }

  /** The remote has reset a stream that is closed here: it wants nothing more of it. */
  dropClosed(id: number): void {
    const stream = this.#resets.get(id);
    if (stream === undefined) return;
    this.drop(stream);
    this.#resetLeft(stream);
    this.released(stream);
  }

  /** A stream has left, and its user knows its end. Runs the tasks that waited for that. */
  released(stream: StreamCore): void {
    if (stream === this.#notification) {
      this.#notification = null;
      this.connection.owner.notified(this.connection);
    }
    this.window?.release(stream);
    if (stream === this.#pulled) this.#pulled = null;
    if (stream === this.#lastStream) this.#lastStream = null;
    if (stream.hasClosed) {
      this.#room.delete(stream);
      this.#demand.delete(stream);
      runAll(takeTasks(stream));
    }
    this.#relieve();
    this.#checkFlushed();
  }

  /** Whether a notification is leaving in several messages, so that a later one has to wait. */
  get isNotifying(): boolean {
    return this.#notification !== null;
  }

  // Room: a stream with less than 256 KiB queued may add more, while all queues together are below `sendHighWaterBytes`

  hasRoom({ sending }: StreamCore): boolean {
    if (this.connection.share?.mustWait() === true) return false;
    return (sending === null || sending.bytes < STREAM_ROOM_BYTES) && this.bytes < this.#highWater();
  }

  /**
   * So it is once all queues together hold `maxUnsentBytes`. A stream with an empty queue did not fill them, so it may still add up to
   * {@link SPARED_BYTES}. Even this exception ends once they hold `sendHighWaterBytes` more.
   */
  overflowsWith(stream: StreamCore, bytes: number): boolean {
    const { share, limits } = this.connection;
    const { maxUnsentBytes, sendHighWaterBytes } = limits;
    if (share?.overflowsWith(bytes) === true) return true;
    if (this.bytes < maxUnsentBytes) return false;
    return bytes > SPARED_BYTES || this.#turns.has(stream) || this.bytes >= maxUnsentBytes + sendHighWaterBytes;
  }

  waits(stream: StreamCore, what: 'room' | 'demand'): void {
    if (what === 'room') this.#room.add(stream);
    else {
      this.#demand.add(stream);
      this.pump();
    }
  }

  #highWater(): number {
    const { sendHighWaterBytes, maxUnsentBytes } = this.connection.limits;
    return Math.min(sendHighWaterBytes, maxUnsentBytes);
  }

  /** Runs the tasks of a stream that wait for room, if it has room. */
  #wake(stream: StreamCore): void {
    if (!this.#room.has(stream) || !this.hasRoom(stream)) return;
    this.#room.delete(stream);
    stream.sending?.runRoom();
  }

  /** Runs the tasks that waited for all queues together, once the queues have become short enough. */
  #relieve(): void {
    if (!this.#isRelieved) return;
    this.#isRelieved = false;
    for (const stream of [...this.#room]) this.#wake(stream);
  }

  #added(bytes: number): void {
    this.bytes += bytes;
    this.connection.share?.queued(bytes);
  }

  #left(frames: number, bytes: number): void {
    const highWater = this.#highWater();
    if (this.bytes >= highWater && this.bytes - bytes < highWater) this.#isRelieved = true;
    this.frames -= frames;
    this.bytes -= bytes;
  }

  // Demand: a stream that waits until the socket takes more is pulled for its next frame

  /** Whether to pull a frame from a stream now. The frame leaves at once within this turn's share, or the stream has its turn. */
  hasDemand(stream: StreamCore): boolean {
    if (this.#grantedAt !== this.#accepted && (!this.#hasTurn() || this.#holds(stream))) return false;
    this.#pulled = stream;
    return true;
  }

  #hasTurn(): boolean {
    return this.#isDirect() && this.#turnBytes < TURN_BYTES && this.connection.share?.mustWait() !== true;
  }

  /** Whether any stream waits, and may be pulled. */
  #mayPull(): boolean {
    return this.#demand.size > 0 && this.connection.share?.mustWait() !== true;
  }

  /** Pulls streams while there is a turn, and until enough of them have not answered at once. */
  #pull(): void {
    if (this.#isPulling || this.#isResting || !this.#mayPull()) return;
    let unanswered = 0;
    let isAnyAsked = true;
    this.#isPulling = true;
    try {
      while (isAnyAsked && unanswered < MOST_UNANSWERED && this.#hasTurn()) {
        const accepted = this.#accepted;
        isAnyAsked = this.#pullNext();
        unanswered = this.#accepted === accepted ? unanswered + 1 : 0;
      }
    } finally {
      this.#isPulling = false;
    }
    // With empty queues nothing else waits for the socket, for a turn, or for an answer.
    if (!this.#mayPull() || !this.#isFlushed() || this.#isWaiting || this.#isStopped()) return;
    if (isAnyAsked) this.#rest();
    else this.window?.awaitAnswer();
  }

  /** Pulls the stream that has waited longest, of those whose frame may leave. Returns `false` if there is none. */
  #pullNext(): boolean {
    if (this.#mayPull())
      for (const stream of this.#demand) {
        if (!this.#isPullable(stream)) continue;
        this.#pullFrom(stream);
        return true;
      }
    return false;
  }

  #isPullable(stream: StreamCore): boolean {
    return !this.#turns.has(stream) && !this.#holds(stream);
  }

  #pullFrom(stream: StreamCore): void {
    this.#demand.delete(stream);
    stream.sending?.runDemand();
  }

  #granting<T>(ask: () => T): T {
    this.#grantedAt = this.#accepted;
    try {
      return ask();
    } finally {
      this.#grantedAt = -1;
    }
  }

  // The order of turns

  /** Writes queued frames while the socket takes them, then pulls more. */
  pump(): void {
    if (this.#pumping || this.#isWaiting) return;
    this.#pumping = true;
    try {
      while (this.frames > 0 && !this.#isWaiting && !this.#isStopped()) {
        if (!this.#isFree() || this.#turnBytes >= TURN_BYTES) this.#wait();
        else if (!this.#step()) break;
      }
    } finally {
      this.#pumping = false;
    }
    this.#relieve();
    this.#pull();
    this.#checkFlushed();
  }

  /** Sends one frame or slice. Returns `false` if all queued frames are bulk that has to wait. */
  #step(): boolean {
    const ahead = this.#control.shift();
    if (ahead !== undefined) {
      this.frames--;
      this.#depart(ahead, 0);
      this.#turnBytes += MIN_CHARGE_BYTES;
      return true;
    }
    for (const stream of this.#turns) {
      if (this.#holds(stream)) continue;
      this.#turnBytes += this.#stepStream(stream);
      // Pulled streams and queues take turns. A stream is pulled again after its last frame has left.
      if (this.frames > 0 && this.#mayPull()) {
        this.#granting(() => (this.#isPullable(stream) ? this.#pullFrom(stream) : this.#pullNext()));
      }
      return true;
    }
    if (this.#granting(() => this.#pullNext())) return true;
    this.window?.awaitAnswer();
    // The window may have queued a ping.
    return this.#control.length > 0;
  }

  /** Sends the next frame or slice of a stream, and the next stream has its turn. Returns its bytes of payload. */
  #stepStream(stream: StreamCore): number {
    const sending = stream.ownSending;
    const { frames, bytes, front } = sending;
    let slice: Frame;
    try {
      slice = sending.take(stream.id, (this.#cut ??= this.#newCut()));
    } catch (error) {
      this.drop(stream);
      this.#unsendable(front, stream, error);
      return 0;
    }
    const charge = bytes - sending.bytes;
    this.#left(frames - sending.frames, charge);
    // The only stream has the next turn too.
    if (sending.frames === 0 || this.#turns.size > 1) {
      this.#turns.delete(stream);
      if (sending.frames > 0) this.#turns.add(stream);
      else if (sending.isIdle) stream.sending = null;
    }
    this.#depart({ frame: slice, stream, message: null }, charge);
    this.#wake(stream);
    this.#relieve();
    return charge;
  }

  #newCut(): Cut {
    const { transport, maxFrameBytes, codec } = this.connection;
    return (frame) => (frame.isSmall ? null : (transport.cut ?? slicerToSend)(frame, maxFrameBytes, codec));
  }

  /** Whether a frame may leave without queueing; `null` for a frame without a stream. */
  passes(stream: StreamCore | null): boolean {
    return this.#isDirect() && !this.#holds(stream);
  }

  /** Sends a frame that {@link passes}, with `bytes` of payload. */
  send(departure: Departure, bytes: number): void {
    this.#accepted++;
    this.#sendDirectly(departure, bytes);
  }

  #sendDirectly(departure: Departure, bytes: number): void {
    this.connection.share?.queued(bytes);
    this.#pumping = true;
    try {
      this.#depart(departure, bytes);
    } finally {
      this.#pumping = false;
    }
    this.#turnBytes += MIN_CHARGE_BYTES + bytes;
    // Hooks of that frame may have queued more frames behind it.
    this.pump();
  }

  /** Whether a frame may leave without queueing, because the socket has room and no frame waits before it. */
  #isDirect(): boolean {
    return this.frames === 0 && !this.#pumping && this.#last === undefined && this.#isFree();
  }

  /** Whether the socket takes more, and no wait is under way. Frames that a closing socket does not take stay queued for the next socket. */
  #isFree(): boolean {
    const { transport } = this.connection;
    return !this.#isWaiting && transport.writable && !transport.holds(SOCKET_FULL_BYTES);
  }

  /**
   * Waits until the socket may be written again. A full socket first drains to {@link SOCKET_ROOM_BYTES}. Otherwise the wait ends at the next
   * turn of the event loop, which has a new share.
   */
  #wait(): void {
    const { transport } = this.connection;
    const isFree = this.#isFree();
    this.#isWaiting = true;
    const task = (): void => {
      this.#isWaiting = false;
      this.pump();
    };
    if (!isFree) transport.whenBelow(SOCKET_ROOM_BYTES, task);
    else {
      this.#turnBytes = 0;
      transport.turn(task);
    }
  }

  /** Pulls on at the next turn of the event loop, with a new share. Until then frames may still leave, because nothing waits before them. */
  #rest(): void {
    if (!this.#isFree()) {
      this.#wait();
      return;
    }
    this.#isResting = true;
    this.connection.transport.turn(() => {
      this.#isResting = false;
      this.#turnBytes = 0;
      this.pump();
    });
  }

  #isFlushed(): boolean {
    return this.frames === 0 && !this.#pumping;
  }

  /** Runs `task` once every frame accepted so far has left; never, if the connection fails before. */
  whenFlushed(task: () => void): void {
    if (this.#isStopped()) return;
    if (this.#isFlushed()) task();
    else (this.#whenFlushed ??= []).push(task);
  }

  #checkFlushed(): void {
    const tasks = this.#whenFlushed;
    if (tasks === null || !this.#isFlushed()) return;
    this.#whenFlushed = null;
    runAll(tasks);
  }

  // Its end

  /** Drops every stream whose open has not left. The stream moves to another socket, or fails. */
  dropUnopened(): void {
    for (const stream of this.#turns) if (stream.ownSending.isUnopened) this.drop(stream);
    this.#relieve();
    this.#checkFlushed();
  }

  /** Sends one last frame ahead of the queues, and nothing more. Queued frames stay until their streams are removed. */
  stop(last: OutgoingFrame | null): void {
    if (this.#isStopped()) return;
    this.#last = last;
    this.window?.stop();
    this.#whenFlushed = null;
    if (last !== null) this.#depart({ frame: last, stream: null, message: null }, 0);
  }

  /** The socket has ended, and with it every stream. */
  clear(): void {
    this.#pipeline?.unsubscribe();
    this.#control.clear();
    this.#turns.clear();
    this.frames = this.bytes = 0;
    for (const stream of this.#resets.values()) stream.resetWritten();
    this.#resets.clear();
  }

  #isStopped(): boolean {
    return this.#last !== undefined;
  }

  /** Whether the pipeline has ended. */
  #hasEnded(): boolean {
    return this.#pipeline?.closed !== false;
  }

  // Bulk

  /** Whether a stream has sent bulk, and its next frame has to wait for more answers. */
  #holds(stream: StreamCore | null): boolean {
    return this.window?.holds(stream) === true;
  }

  /**
   * Returns the window that waits for the answer to a ping behind the last frame, or `null` if the window paces no such frame. `bytes` have
   * left since the ping before.
   */
  windowOfLast(bytes: number): BulkWindow<StreamCore> | null {
    if (this.isLastBulk) return this.window;
    const stream = this.#lastStream;
    // Whether the stream of the last frame was pulled for it, or many values wait behind it.
    const hasMore = this.#pulled === stream || (stream?.sending?.bytes ?? 0) >= BULK_FRAME_BYTES;
    if (stream === null || !hasMore) return null;
    const window = this.pacing;
    window.sent(stream, bytes);
    return window;
  }

  /** The window, made for the first bulk. */
  get pacing(): BulkWindow<StreamCore> {
    return (this.window ??= new BulkWindow(
      (answered) => this.connection.transit.ping(answered),
      () => {
        this.pump();
      },
      (stream) => this.#turns.has(stream) || this.#demand.has(stream),
    ));
  }

  // The pipeline

  /** Passes a frame or slice to the pipeline, which writes it before this returns. */
  #depart(departure: Departure, bytes: number): void {
    const { frame, stream } = departure;
    this.isLastBulk = bytes >= BULK_FRAME_BYTES || frame.fragment != null;
    this.#lastStream = frame.end === true ? null : stream;
    if (stream !== null) {
      if (this.isLastBulk) this.pacing.sent(stream, bytes);
      else this.window?.passed(stream);
      // A reset may leave after its stream was released.
      if (frame.type === 'reset' && frame.more !== true) this.window?.release(stream);
    }
    this.#pipeline?.next(departure);
  }

  /** Returns the departure, or `null` if the remote does not need it. */
  #observe(this: Outbound, departure: Departure): Departure | null {
    const { frame, stream } = departure;
    const { owner, number } = this.connection;
    if (frame.type === 'open') stream?.advance('leave');
    else if (frame.type === 'reset' && !this.#isForRemote(frame)) {
      this.#resetLeaving(departure);
      return null;
    }
    owner.observed(number, 'tx', frame, 0);
    return (this.#departing = departure);
  }

  /** Writes the message of a departure. The remote may answer before this returns. */
  #write(this: Outbound, departure: Departure): null {
    const { frame, stream, message } = departure;
    const { owner, number, transport, watchdog, control } = this.connection;
    this.#departing = null;
    // The codec or an observer ended the connection, and the goaway went ahead.
    if (message === null || (this.#last != null && frame !== this.#last)) return null;
    owner.sized?.encoded(number, frame, message);
    // Advance the state first: a socket may deliver the answer within `send`.
    const isEnd = this.#leaving(departure);
    owner.tally.sentFrames++;
    transport.send(message);
    watchdog.sent(message);
    if (frame.type === 'ping') control.pinged(String(frame.nonce));
    if (isEnd) stream?.release();
    return null;
  }

  /** The pipeline failed on its departure, or after it had written one. */
  failed(error: unknown): void {
    const departure = this.#departing;
    this.#departing = null;
    if (departure === null) this.connection.fail(error);
    else {
      this.connection.replies.sent(departure.frame);
      this.#unsendable(departure.frame, departure.stream, error);
    }
  }

  /** Ends the stream of a frame that cannot be cut or encoded. The connection goes on. */
  #unsendable(frame: Frame, stream: StreamCore | null, error: unknown): void {
    const isReset = frame.type === 'reset';
    if (stream === null || (isReset && encodedPartOf(frame) === null)) {
      this.connection.fail(error);
      return;
    }
    log('error', `stream ${stream.id}: a frame of type '${frame.type}' could not be encoded`, error);
    if (!stream.hasClosed) stream.reset('library', ResetCode.INTERNAL_ERROR, 'a frame could not be encoded');
    else {
      // The stream had closed before this frame left. Send a reset without the part that cannot be encoded.
      this.drop(stream);
      const code = isReset ? (frame.code ?? null) : ResetCode.INTERNAL_ERROR;
      this.addReset(stream, resetFrame(this.connection, Number(stream.id), code, frame.reason ?? ''), overtakes(code));
    }
  }

  /** Whether the remote needs a reset. It needs none of a stream whose open never left, except as a reply to its own frame. */
  #isForRemote(reset: Frame): boolean {
    const { connection } = this;
    const id = Number(reset.stream);
    return !connection.owns(id) || connection.hasOpened(id) || connection.replies.owes(reset);
  }

  /** The pipeline is about to write a frame. Returns whether the frame ends its stream. */
  #leaving(departure: Departure): boolean {
    const { frame, stream } = departure;
    if (frame.type === 'open') this.connection.opened(Number(frame.stream));
    if (frame.type === 'open' || frame.type === 'data') return stream?.leaving(frame) === true;
    if (frame.type === 'reset') this.#resetLeaving(departure);
    else this.connection.replies.sent(frame);
    return false;
  }

  /** A reset is about to be written, or the remote does not need it. */
  #resetLeaving({ frame, stream }: Departure): void {
    this.connection.replies.sent(frame);
    if (frame.more !== true && stream !== null) this.#resetLeft(stream);
  }

  #resetLeft(stream: StreamCore): void {
    this.#resets.delete(Number(stream.id));
    stream.resetWritten();
  }
}
