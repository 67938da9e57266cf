import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { log } from '../logger.js';
import { mapPresent } from '../rx/pipeline.js';
import type { PipelineHost } from '../rx/pipeline.js';
import { overtakes } from '../stream/end.js';
import { StreamQueue, runAll } from '../stream/sending.js';
import type { Cut, PullHost, Pulls, Room } from '../stream/sending.js';
import type { LiveStream, StreamOwner } from '../stream/stream-core.js';
import type { Transport } from '../transport/transport.js';
import { Fifo, LazyMap } from '../util/collections.js';
import type { Codec, Message } from '../wire/codec.js';
import { ResetCode } from '../wire/codes.js';
import { slicerToSend } from '../wire/fragment.js';
import { ABSENT } from '../wire/frame.js';
import type { Frame } from '../wire/frame.js';
import type { Limits } from '../wire/limits.js';
import { encodedPartOf, frameEncoder, isSmall } from '../wire/outgoing.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import { MIN_CHARGE_BYTES } from '../wire/reassembly.js';
import type { SplitMessage } from '../wire/shared.js';
import { BULK_FRAME_BYTES, BulkWindow } from './bulk-window.js';
import type { SendPing } from './bulk-window.js';
import type { FrameObserver, Share, StreamTable } from './connection.js';
import { resetFrame } from './replies.js';
import type { ControlReplies, MessageForm } from './replies.js';

/** The parts of a session that its outbound pipeline uses. */
export interface OutboundHost {
  readonly transport: Pick<Transport, 'encoder'>;
  readonly codec: Codec;
  readonly scheduler: Pick<Scheduler, 'slices$'>;
  readonly departures: Departures;
}

/** Turns frames, in turn, into messages for the socket. */
export class Outbound implements PipelineHost {
  constructor(private readonly host: OutboundHost) {}

  make(): Observable<unknown> {
    const { transport, codec, scheduler, departures } = this.host;
    const encoder = transport.encoder ?? frameEncoder;
    return scheduler.slices$.pipe(mapPresent(departures.begin), mapPresent(encoder(codec)), mapPresent(departures.complete));
  }

  failed(error: unknown): void {
    this.host.departures.fail(error);
  }
}

/** The queued frames and waiting tasks of a withdrawn stream. */
export interface Unsent {
  readonly frames: readonly OutgoingFrame[];
  /** Tasks that wait for room. */
  readonly waiters: readonly (() => void)[];
}

/** The non-empty queues by stream. */
type StreamQueues = Pick<LazyMap<number, StreamQueue>, 'size' | 'has' | 'get' | 'keys' | typeof Symbol.iterator>;

/** The waiting frames and tasks of one connection. Frames wait for their turn, tasks wait for room. Only the backlog changes its counts. */
export class Backlog {
  /** How many frames wait for their turn, control frames too. A frame that has left in part is one. */
  frames = 0;
  /** Queued bytes of payload of all streams. */
  bytes = 0;
  readonly #queues = new LazyMap<number, StreamQueue>();
  /** The queues in the order of their turns. A new queue comes last, so opens leave in the order in which they were added. */
  readonly queues: StreamQueues = this.#queues;
  readonly #control = new Fifo<OutgoingFrame>();
  /** Keeps the tasks that wait for room. Made by `roomIn`, for the first sender that asks. */
  room: Room | null = null;
  /** Keeps the streams that wait to be pulled. Made by `pullsOf`, for the first one. */
  pulls: Pulls | null = null;

  constructor(
    readonly limits: Limits,
    readonly share: Share | null = null,
  ) {}

  /** Queues a frame that goes ahead of all streams. */
  addAhead(frame: OutgoingFrame): void {
    this.frames++;
    this.#control.push(frame);
  }

  /** Takes the next frame that goes ahead of all streams, if any. */
  takeAhead(): OutgoingFrame | undefined {
    const frame = this.#control.shift();
    if (frame !== undefined) this.frames--;
    return frame;
  }

  /** Whether a frame waits that goes ahead of all streams. */
  get hasAhead(): boolean {
    return this.#control.length > 0;
  }

  /** Queues a frame of a stream. */
  add(stream: number, frame: OutgoingFrame): void {
    let queue = this.#queues.get(stream);
    if (queue === undefined) this.#queues.set(stream, (queue = new StreamQueue()));
    const bytes = queue.append(frame);
    this.frames++;
    this.bytes += bytes;
    this.share?.queued(bytes);
  }

  /**
   * Takes the next frame or slice of a queue. The next stream then has its turn.
   *
   * @throws the same as {@link StreamQueue.take}
   */
  take(stream: number, queue: StreamQueue, cut: Cut): Frame {
    const { frames, bytes } = queue;
    const slice = queue.take(cut);
    this.#subtract(frames - queue.frames, bytes - queue.bytes);
    // The only queue has the next turn too.
    if (queue.frames > 0 && this.#queues.size === 1) return slice;
    this.#queues.delete(stream);
    if (queue.frames > 0) this.#queues.set(stream, queue);
    return slice;
  }

  /** Drops a stream's queued frames. The caller calls {@link release} once the stream's owner knows. */
  drop(stream: number): void {
    const queue = this.#queues.get(stream);
    if (queue === undefined) return;
    this.#queues.delete(stream);
    this.#subtract(queue.frames, queue.bytes);
  }

  /** Drops the frames of every stream whose open has not left. The caller calls {@link release} afterwards. */
  dropUnopened(): void {
    for (const [stream, queue] of this.#queues) if (queue.unopened) this.drop(stream);
  }

  /** Withdraws the frames and waiting tasks of an unsent stream. The caller calls {@link release} afterwards. */
  takeUnsent(stream: number): Unsent {
    const queue = this.#queues.get(stream);
    this.drop(stream);
    return { frames: queue?.takeAll() ?? [], waiters: this.takeWaiters(stream) };
  }

  /** Takes the tasks that wait on a stream. The caller runs them once the stream's owner knows its end. */
  takeWaiters(stream: number): readonly (() => void)[] {
    return [...(this.room?.take(stream) ?? []), ...(this.pulls?.take(stream) ?? [])];
  }

  /** The stream's owner knows its end. Runs the tasks that wait on the stream, and those that wait for the room of its queue. */
  release(stream: number): void {
    this.room?.run(stream);
    this.pulls?.run(stream);
    this.room?.relieve();
  }

  /** Returns whether a stream has queued frames, or waits to be pulled. */
  hasMore(stream: number): boolean {
    return this.#queues.has(stream) || this.pulls?.has(stream) === true;
  }

  clear(): void {
    this.#control.clear();
    this.#queues.clear();
    this.room = this.pulls = null;
    this.frames = this.bytes = 0;
  }

  #subtract(frames: number, bytes: number): void {
    this.frames -= frames;
    this.bytes -= bytes;
    this.room?.freed(bytes);
  }
}

/** Knows which leaving frames are bulk, and paces them by a window. Bulk means slices, large frames, and the many small values of one source. */
export class Bulk {
  /** Paces bulk. Made for the first frame of it. */
  window: BulkWindow | null = null;
  /** Whether the last frame that left was a slice or a large frame. */
  isLast = false;
  /** The stream of the last frame that left, if more may follow; otherwise 0. */
  #lastStream = 0;

  constructor(
    private readonly ping: SendPing,
    /** Called once bulk may go on. */
    private readonly opened: () => void,
    private readonly backlog: Backlog,
  ) {}

  /** Returns whether a stream has sent bulk, and its next frame has to wait for more answers. */
  holds(stream: number): boolean {
    return this.window?.holds(stream) === true;
  }

  /** A frame or slice is about to leave. A ping that it needs follows it. */
  leaving({ stream, type, fragment, end, more }: Frame, bytes: number): void {
    this.isLast = bytes >= BULK_FRAME_BYTES || fragment != null;
    this.#lastStream = end === true ? 0 : (stream ?? 0);
    if (typeof stream !== 'number') return;
    if (this.isLast) this.#pacing().sent(stream, bytes);
    else this.window?.passed(stream);
    // A reset may leave after its stream was released.
    if (type === 'reset' && more !== true) this.window?.release(stream);
  }

  /**
   * Returns the window that waits for the answer to a ping behind the last frame, or `null` if the window paces no such frame. `bytes` have
   * left since the ping before.
   */
  windowOfLast(bytes: number): BulkWindow | null {
    if (this.isLast) return this.window;
    if (!this.#hasMoreValues()) return null;
    const window = this.#pacing();
    window.sent(this.#lastStream, bytes);
    return window;
  }

  /** Whether the stream of the last frame was pulled for it, or many values wait behind it. */
  #hasMoreValues(): boolean {
    const { pulls, queues } = this.backlog;
    return pulls?.pulled === this.#lastStream || Number(queues.get(this.#lastStream)?.bytes) >= BULK_FRAME_BYTES;
  }

  #pacing(): BulkWindow {
    return (this.window ??= new BulkWindow(this.ping, this.opened, this.backlog));
  }
}

/** Writing stops while the socket holds so many bytes. */
export const SOCKET_FULL_BYTES = 1024 * 1024;
/** Writing resumes when the socket holds at most so many bytes. */
const SOCKET_ROOM_BYTES = 256 * 1024;
/** One turn of the event loop writes at most so many bytes, so that reading and timers run in between. */
export const TURN_BYTES = 128 * 1024;

/** Limits writing to a socket: to the bytes that the socket takes, and to a share of each turn of the event loop. */
export class Pace {
  #waiting = false;
  #resting = false;
  /** Bytes written since the last wait for a turn. */
  #turnBytes = 0;

  constructor(
    private readonly transport: Transport,
    /** Called when the wait is over. */
    private readonly goOn: () => void,
  ) {}

  get waiting(): boolean {
    return this.#waiting;
  }

  /** Whether the socket takes more, and no wait is under way. Frames that a closing socket does not take stay queued for the next socket. */
  get free(): boolean {
    return !this.#waiting && this.transport.writable && !this.transport.holds(SOCKET_FULL_BYTES);
  }

  /** Whether this turn may write more bytes. */
  get hasShare(): boolean {
    return this.#turnBytes < TURN_BYTES;
  }

  /** Whether only the next turn may pull more. */
  get resting(): boolean {
    return this.#resting;
  }

  wrote(bytes: number): void {
    this.#turnBytes += bytes;
  }

  /**
   * Waits until the socket may be written again. A full socket first drains to {@link SOCKET_ROOM_BYTES}. Otherwise the wait ends at the next
   * turn of the event loop, which has a new share.
   */
  wait(): void {
    const { free } = this;
    this.#waiting = true;
    const task = (): void => {
      this.#waiting = false;
      this.goOn();
    };
    if (!free) this.transport.whenBelow(SOCKET_ROOM_BYTES, task);
    else {
      this.#turnBytes = 0;
      this.transport.turn(task);
    }
  }

  /**
   * Goes on at the next turn of the event loop, with a new share. Until then frames may still leave, because nothing waits before them. If
   * the socket is full, {@link wait}s. Not while {@link resting}.
   */
  rest(): void {
    if (!this.free) {
      this.wait();
      return;
    }
    this.#resting = true;
    this.transport.turn(() => {
      this.#resting = false;
      this.#turnBytes = 0;
      this.goOn();
    });
  }
}

/** The parts of a session that its scheduler uses. */
export interface SchedulerHost extends MessageForm {
  readonly transport: Transport;
  readonly limits: Limits;
  /** `null`: this connection shares no limits with others. */
  readonly share: Share | null;
  /** Sends the pings that show how many bytes have arrived. */
  readonly transit: { readonly ping: SendPing };
  readonly departures: {
    /** The frame cannot be cut, so it does not leave. */
    unsendable(frame: OutgoingFrame, error: unknown): void;
  };
}

/**
 * The source of the outbound pipeline. It writes control frames first, then one frame or slice of each stream in turn. It cuts a slice only
 * at the slice's turn, so a small request overtakes a big transfer. While the socket has room, the scheduler copies and queues nothing.
 */
export class Scheduler implements PullHost {
  /** The leaving frames and slices, in order. One pipeline subscribes, and writes each frame before `next` returns. */
  readonly slices$: Observable<Frame>;
  /** The waiting frames and tasks. */
  readonly backlog: Backlog;
  /** Holds back the bulk for which the remote has no room yet. */
  readonly bulk: Bulk;
  accepted = 0;
  readonly #pace: Pace;
  #pumping = false;
  #stopped = false;
  #whenFlushed: (() => void)[] = [];
  #pipeline: Subscriber<Frame> | null = null;

  constructor(private readonly host: SchedulerHost) {
    this.backlog = new Backlog(host.limits, host.share);
    this.#pace = new Pace(host.transport, this.pump);
    this.bulk = new Bulk(host.transit.ping, this.pump, this.backlog);
    host.share?.onRoom(() => {
      this.backlog.room?.madeElsewhere();
      this.pump();
    });
    // A Subject would cost more: every frame passes here, to one subscriber.
    this.slices$ = new Observable((pipeline) => {
      this.#pipeline = pipeline;
    });
  }

  /** Queues one whole frame, which takes its turn with other streams. Drops the frame if the pipeline has ended. */
  add(frame: OutgoingFrame): void {
    if (this.#pipeline?.closed !== false) return;
    const stream = frame.stream ?? 0;
    this.accepted++;
    if (this.#isDirect() && !this.bulk.holds(stream) && frame.isSmall) this.#sendDirectly(frame, frame.roughBytes);
    else {
      this.backlog.add(stream, frame);
      this.pump();
    }
  }

  /** Queues a frame that fits one message, ahead of all streams. Drops the frame if the pipeline has ended. */
  addAhead(frame: OutgoingFrame): void {
    if (this.#pipeline?.closed !== false) return;
    if (this.#isDirect()) this.#sendDirectly(frame, 0);
    else {
      this.backlog.addAhead(frame);
      this.pump();
    }
  }

  /** Queues a reset. One that overtakes goes ahead, but with a payload it takes its turn all the same: the payload may need slices. */
  addReset(reset: OutgoingFrame, isAhead: boolean): void {
    if (isAhead && reset.payload === ABSENT) this.addAhead(reset);
    else this.add(reset);
  }

  /** Runs `add`, which adds several frames. No frame leaves before the last one is added. */
  batch(add: () => void): void {
    const wasPumping = this.#pumping;
    this.#pumping = true;
    try {
      add();
    } finally {
      this.#pumping = wasPumping;
    }
    this.pump();
  }

  get hasTurn(): boolean {
    return this.#isDirect() && this.#pace.hasShare && this.host.share?.mustWait() !== true;
  }

  /** A stream has left, and its owner knows its end. Runs the tasks that waited for that. */
  release(stream: number): void {
    this.bulk.window?.release(stream);
    this.backlog.release(stream);
    this.#checkFlushed();
  }

  /** Drops every stream whose open has not left. The stream moves to another socket, or fails. */
  dropUnopened(): void {
    this.backlog.dropUnopened();
    this.backlog.room?.relieve();
    this.#checkFlushed();
  }

  /** Runs `task` once every frame accepted so far has left. A scheduler that stops first never runs `task`. */
  whenFlushed(task: () => void): void {
    if (this.#stopped) return;
    if (this.#isFlushed()) task();
    else this.#whenFlushed.push(task);
  }

  /** Sends one last frame ahead of the queues, and nothing more. Queued frames stay until they are withdrawn or cleared. */
  stop(last: OutgoingFrame | null): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.bulk.window?.stop();
    this.#whenFlushed = [];
    if (last !== null) this.#send(last, 0);
  }

  /** Writes queued frames while the pace allows, then pulls more. */
  readonly pump = (): void => {
    if (this.#pumping || this.#pace.waiting) return;
    this.#pumping = true;
    try {
      while (this.backlog.frames > 0 && !this.#pace.waiting && !this.#stopped) {
        if (!this.#pace.free || !this.#pace.hasShare) this.#pace.wait();
        else if (!this.#step()) break;
      }
    } finally {
      this.#pumping = false;
    }
    this.backlog.room?.relieve();
    if (this.backlog.pulls !== null) this.#pull(this.backlog.pulls);
    this.#checkFlushed();
  };

  #isFlushed(): boolean {
    return this.backlog.frames === 0 && !this.#pumping;
  }

  /** Whether a frame may leave without queueing, because the socket has room and no frame waits before it. */
  #isDirect(): boolean {
    return this.#isFlushed() && !this.#stopped && this.#pace.free;
  }

  readonly #cut: Cut = (frame) =>
    frame.isSmall ? null : (this.host.transport.cut ?? slicerToSend)(frame, this.host.maxFrameBytes, this.host.codec);

  #sendDirectly(frame: OutgoingFrame, bytes: number): void {
    this.host.share?.queued(bytes);
    this.#pumping = true;
    try {
      this.#send(frame, bytes);
    } finally {
      this.#pumping = false;
    }
    this.#pace.wrote(MIN_CHARGE_BYTES + bytes);
    // Hooks of that frame may have queued more frames behind it.
    this.pump();
  }

  #pull(pulls: Pulls): void {
    if (pulls.isPulling || this.#pace.resting || !pulls.any) return;
    const isAnyLeft = pulls.many();
    // With empty queues nothing else waits for the socket, for a turn, or for an answer.
    if (!pulls.any || !this.#isFlushed() || this.#pace.waiting || this.#stopped) return;
    if (isAnyLeft) this.#pace.rest();
    else this.bulk.window?.awaitAnswer();
  }

  /** Sends one frame or slice. Returns `false` if all queued frames are bulk that has to wait. */
  #step(): boolean {
    const { backlog } = this;
    const ahead = backlog.takeAhead();
    if (ahead !== undefined) {
      this.#send(ahead, 0);
      this.#pace.wrote(MIN_CHARGE_BYTES);
      return true;
    }
    for (const [stream, queue] of backlog.queues) {
      if (this.bulk.holds(stream)) continue;
      this.#pace.wrote(this.#stepStream(stream, queue));
      if (backlog.frames > 0) backlog.pulls?.after(stream);
      return true;
    }
    if (backlog.pulls?.one() === true) return true;
    this.bulk.window?.awaitAnswer();
    // The window may have queued a ping.
    return backlog.hasAhead;
  }

  /** Sends the next frame or slice of a stream. Returns its bytes of payload. */
  #stepStream(stream: number, queue: StreamQueue): number {
    const { backlog } = this;
    const before = queue.bytes;
    let slice: Frame;
    try {
      slice = backlog.take(stream, queue, this.#cut);
    } catch (error) {
      backlog.drop(stream);
      this.host.departures.unsendable(queue.front, error);
      return 0;
    }
    const bytes = before - queue.bytes;
    this.#send(slice, bytes);
    backlog.room?.wake(stream);
    backlog.room?.relieve();
    return bytes;
  }

  /** Passes a frame or slice to the pipeline. */
  #send(slice: Frame, bytes: number): void {
    this.bulk.leaving(slice, bytes);
    this.#pipeline?.next(slice);
  }

  #checkFlushed(): void {
    if (this.#whenFlushed.length > 0 && this.#isFlushed()) runAll(this.#whenFlushed.splice(0));
  }
}

/** The parts of a session that departures use. */
export interface DepartureHost extends MessageForm {
  readonly number: number;
  readonly transport: Pick<Transport, 'send'>;
  readonly streams: StreamTable;
  readonly scheduler: Pick<Scheduler, 'addReset' | 'backlog'>;
  readonly replies: ControlReplies;
  readonly owner: FrameObserver & Pick<StreamOwner, 'tally'>;
  readonly control: {
    /** The socket has accepted a ping. */
    pinged(nonce: string): void;
  };
  readonly watchdog: {
    /** The socket has accepted a message. */
    sent(message: Message | SplitMessage): void;
  };
  /** Ends the connection. */
  fail(error: unknown): void;
}

/**
 * Advances the state of streams as their frames leave. The outbound pipeline is synchronous. It calls {@link begin} with a slice, then
 * {@link complete} with its message or {@link fail} with its error. Only then comes the next slice.
 */
export class Departures {
  /** The slice in the pipeline. */
  #slice: Frame | null = null;
  /** The stream of that slice. */
  #stream: LiveStream | undefined;

  constructor(private readonly host: DepartureHost) {}

  /** Returns the slice, or `null` if the remote does not need it. */
  readonly begin = (slice: Frame): Frame | null => {
    // Only an open and an end move the state of a stream. A stream leaves the table before its reset is queued.
    const stream = slice.type === 'open' || slice.end === true ? this.host.streams.get(Number(slice.stream)) : undefined;
    if (slice.type === 'open') stream?.advance('leave');
    else if (slice.type === 'reset' && !this.#isForRemote(slice)) {
      this.#resetLeaving(slice);
      return null;
    }
    this.host.owner.observed(this.host.number, 'tx', slice, 0);
    this.#slice = slice;
    this.#stream = stream;
    return slice;
  };

  /** Writes the message of the slice. The remote may answer before this returns. */
  readonly complete = (message: Message | SplitMessage): null => {
    const { owner, number, transport, watchdog, control } = this.host;
    if (this.#slice !== null) owner.sized?.encoded(number, this.#slice, message);
    const slice = this.#slice;
    const stream = this.#stream;
    // The codec or an observer ended the connection, and the goaway went ahead of this slice.
    if (slice === null) return null;
    this.#clear();
    // Advance the state first: a socket may deliver the answer within `send`.
    const isEnd = this.#leaving(slice, stream);
    owner.tally.sentFrames++;
    transport.send(message);
    watchdog.sent(message);
    if (slice.type === 'ping') control.pinged(String(slice.nonce));
    if (isEnd) stream?.release();
    return null;
  };

  /** The pipeline failed on its slice, or after it had written the slice. */
  fail(error: unknown): void {
    const slice = this.#slice;
    this.#clear();
    if (slice === null) this.host.fail(error);
    else {
      this.host.replies.sent(slice);
      this.unsendable(slice, error);
    }
  }

  /** Ends the stream of a frame that cannot be cut or encoded. The connection goes on. */
  unsendable(frame: Frame, error: unknown): void {
    const { streams, scheduler } = this.host;
    const id = frame.stream ?? 0;
    const isReset = frame.type === 'reset';
    if (id === 0 || (isReset && encodedPartOf(frame) === null)) {
      this.host.fail(error);
      return;
    }
    log('error', `stream ${id}: a frame of type '${frame.type}' could not be encoded`, error);
    const stream = streams.get(id);
    if (stream !== undefined) stream.reset('library', ResetCode.INTERNAL_ERROR, 'a frame could not be encoded');
    else {
      // The stream had closed before this frame left. Send a reset without the part that cannot be encoded.
      scheduler.backlog.drop(id);
      const code = isReset ? (frame.code ?? null) : ResetCode.INTERNAL_ERROR;
      scheduler.addReset(resetFrame(this.host, id, code, frame.reason ?? ''), overtakes(code));
    }
  }

  #clear(): void {
    this.#slice = null;
    this.#stream = undefined;
  }

  /** Whether the remote needs a reset. It needs none of a stream whose open never left, except as a reply to its own frame. */
  #isForRemote(reset: Frame): boolean {
    const { streams, replies } = this.host;
    const id = reset.stream ?? 0;
    return !streams.owns(id) || streams.hasOpened(id) || replies.owes(reset);
  }

  /** The pipeline is about to write a slice. Returns whether the slice ends its stream. */
  #leaving(slice: Frame, stream: LiveStream | undefined): boolean {
    if (slice.type === 'open') this.host.streams.opened(Number(slice.stream));
    if (slice.type === 'open' || slice.type === 'data') return stream?.leaving(slice) === true;
    if (slice.type === 'reset') this.#resetLeaving(slice);
    else this.host.replies.sent(slice);
    return false;
  }

  /** A reset is about to be written, or the remote does not need it. */
  #resetLeaving(slice: Frame): void {
    this.host.replies.sent(slice);
    if (slice.more !== true) this.host.streams.resetWritten(slice.stream ?? 0);
  }
}

/** The parts of a session that its notifications use. */
export interface NotificationHost extends MessageForm {
  /** A notification of several messages has left. The next one may follow. */
  notified(): void;
}

/**
 * The notification that is leaving in several messages. A later notification waits for it. Otherwise their slices would take turns, and the
 * remote might handle the later one earlier (S9a).
 */
export class NotificationTurn {
  /** The notification, from its call until it has left. */
  #stream: LiveStream | null = null;

  constructor(private readonly host: NotificationHost) {}

  get isTaken(): boolean {
    return this.#stream !== null;
  }

  /** The stream is about to queue its notification. */
  queued(stream: LiveStream, open: OutgoingFrame): void {
    const { codec, maxFrameBytes } = this.host;
    if (!open.isSmall && !isSmall(open, encodedPartOf(open), maxFrameBytes, codec)) this.#stream = stream;
  }

  /** A notification has left, or ended before it left. */
  ended(stream: LiveStream): void {
    if (stream !== this.#stream) return;
    this.#stream = null;
    this.host.notified();
  }
}
