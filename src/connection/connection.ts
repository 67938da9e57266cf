import { RestartingPipeline } from '../rx/pipeline.js';
import type { CloseCause } from '../stream/end.js';
import type { Holdings } from '../stream/receiving.js';
import { loseSocket } from '../stream/stream-core.js';
import type { LiveStream, StreamOwner } from '../stream/stream-core.js';
import { abnormalClose } from '../transport/transport.js';
import type { SocketClose, Transport } from '../transport/transport.js';
import { LazyMap } from '../util/collections.js';
import type { Codec, Message } from '../wire/codec.js';
import { FIRST_APPLICATION_CODE, ResetCode, resetCodeName } from '../wire/codes.js';
import type { CloseReason } from '../wire/codes.js';
import { StreamIdsExhaustedError } from '../wire/errors.js';
import type { Frame, FrameDirection } from '../wire/frame.js';
import type { Limits } from '../wire/limits.js';
import { Reassembly } from '../wire/reassembly.js';
import type { HeldShare } from '../wire/reassembly.js';
import type { SplitMessage } from '../wire/shared.js';
import { AnswerHold, ReadBackpressure, ReceiveBudget } from './budget.js';
import { Closing } from './closing.js';
import { ControlStream } from './control.js';
import { Admission, FloodGuard, Inbound } from './inbound.js';
import { Departures, NotificationTurn, Outbound, Scheduler } from './outbound.js';
import { ControlReplies } from './replies.js';
import { StreamMap } from './stream-map.js';
import { Transit } from './transit.js';
import { Watchdog } from './watchdog.js';
import type { KeepaliveTimes } from './watchdog.js';

/** The live streams of one connection by id. It also tracks used ids, and the places of remote streams. */
export class StreamTable extends StreamMap<LiveStream> {
  #occupied = 0;
  /** Holdings of closed streams whose reset is not written yet. */
  readonly #resets = new LazyMap<number, Holdings>();
  #nextId: number;
  #highestSent = 0;

  constructor(
    private readonly isDialer: boolean,
    firstId: number,
    private readonly share: Share | null = null,
  ) {
    super();
    this.#nextId = firstId;
  }

  /** The number of places that remote streams hold. */
  get occupied(): number {
    return this.#occupied;
  }

  /** The id of this side's next stream. Ids end at 2^53 − 1. */
  get nextId(): number {
    return this.#nextId;
  }

  get exhausted(): boolean {
    return !Number.isSafeInteger(this.#nextId);
  }

  /** Returns all streams, the unsent ones first: they keep their places ahead of streams that the owners of failed streams open. */
  unsentFirst(): LiveStream[] {
    const streams = this.values();
    return [...streams.filter(({ unsent }) => unsent), ...streams.filter(({ unsent }) => !unsent)];
  }

  /** Returns whether an id belongs to this side. Odd ids belong to the dialer. */
  owns(id: number): boolean {
    return (id % 2 === 1) === this.isDialer;
  }

  /** Returns whether this side has ever sent stream `id`, so that the remote may know it. */
  hasOpened(id: number): boolean {
    return id <= this.#highestSent;
  }

  /**
   * Takes {@link nextId} for a stream of this side.
   *
   * @throws StreamIdsExhaustedError if none is left
   */
  takeId(): number {
    if (this.exhausted) throw new StreamIdsExhaustedError('expected a free stream id, got none: this connection has used all of them');
    const id = this.#nextId;
    this.#nextId += 2;
    return id;
  }

  /** The open of this side's stream `id` has left, or its first slice. */
  opened(id: number): void {
    this.#highestSent = Math.max(this.#highestSent, id);
  }

  /** Takes a place for a remote stream. */
  takePlace(): void {
    this.#occupied++;
    this.share?.streamTaken();
  }

  /** Frees a place. */
  releasePlace(): void {
    this.#occupied--;
    this.share?.streamReleased();
  }

  /** A reset of stream `id` is queued. The stream keeps its place until the reset is written. */
  awaitReset(id: number, holdings: Holdings): void {
    holdings.awaitReset();
    this.#resets.set(id, holdings);
  }

  resetWritten(id: number): void {
    const holdings = this.#resets.get(id);
    if (holdings === undefined) return;
    this.#resets.delete(id);
    holdings.resetWritten();
  }

  /** Releases the places of all queued resets, because no reset will be written any more. */
  releaseResets(): void {
    for (const id of this.#resets.keys()) this.resetWritten(id);
  }
}

/** One socket's life. An inbound pipeline turns messages into frames of streams. An outbound pipeline turns frames in turn into messages. */
export class Session {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: SessionLimits;
  readonly isDialer: boolean;
  readonly number: number;
  readonly maxFrameBytes: number;
  readonly share: Share | null;
  readonly reading: ReadBackpressure;
  readonly hold: AnswerHold;
  readonly receiveBudget: ReceiveBudget;
  readonly reassembly: Reassembly;
  readonly scheduler: Scheduler;
  readonly watchdog: Watchdog;
  readonly flood: FloodGuard;
  readonly replies: ControlReplies;
  readonly control: ControlStream;
  readonly transit: Transit;
  readonly streams: StreamTable;
  readonly closing: Closing;
  readonly admission: Admission;
  readonly owner: SessionOwner;
  readonly notifications: NotificationTurn;
  readonly departures: Departures;
  readonly #out = new RestartingPipeline(new Outbound(this));

  constructor(options: SessionOptions) {
    const { transport, codec, limits, isDialer } = options;
    this.transport = transport;
    this.codec = codec;
    this.limits = limits;
    this.isDialer = isDialer;
    this.number = options.number;
    this.maxFrameBytes = options.maxFrameBytes;
    this.owner = options.owner;
    this.share = options.share ?? null;
    this.reading = new ReadBackpressure(transport, limits.pauseMs);
    this.hold = new AnswerHold(this, limits.pauseMs);
    this.receiveBudget = new ReceiveBudget(limits, this.reading, this.hold, this.share);
    this.flood = new FloodGuard(limits);
    this.control = new ControlStream(this);
    this.transit = new Transit(transport, this.control);
    this.streams = new StreamTable(isDialer, options.firstId ?? (isDialer ? 1 : 2), this.share);
    this.closing = new Closing(this);
    this.admission = new Admission(this);
    this.scheduler = new Scheduler(this);
    this.replies = new ControlReplies(this);
    this.notifications = new NotificationTurn(this);
    this.departures = new Departures(this);
    this.watchdog = new Watchdog(this, options.keepalive);
    this.reassembly = new Reassembly(codec, limits, this.receiveBudget.held, this.watchdog.fragments);
    this.#out.start();
  }

  /** Begins to read. Until then the transport keeps arriving messages. */
  start(): void {
    new RestartingPipeline(new Inbound(this)).start();
    this.watchdog.start();
  }

  /**
   * Accepts a stream of this side. The caller must send its open before the session adopts another stream.
   *
   * @throws StreamIdsExhaustedError if no id is left
   */
  adopt(stream: LiveStream): void {
    const id = this.streams.takeId();
    stream.enter(this, id);
    this.streams.set(id, stream);
    this.owner.tally.opened++;
  }

  /** Whether a notification is leaving in several messages, so that a later one has to wait. */
  get isNotifying(): boolean {
    return this.notifications.isTaken;
  }

  /** A notification of several messages has left. The next one may follow. */
  notified(): void {
    this.owner.notified(this);
  }

  /** Whether waiting notifications may follow an earlier one on this socket. */
  get takesNotifications(): boolean {
    return !this.closing.isOver && this.goawayCode === null;
  }

  /** Whether this socket accepts new streams of this side. A connection that has failed has announced its goaway. */
  get acceptsStreams(): boolean {
    return this.control.goaway.isAbsent && this.transport.writable;
  }

  /** Code of the remote's goaway; `null` if the remote has sent none. */
  get goawayCode(): ResetCode | null {
    return this.control.goaway.receivedCode;
  }

  /** Bytes of the messages that were passed to the socket. */
  get sentBytes(): number {
    const { sentBytes, framingBytes = 0 } = this.transport;
    return sentBytes - framingBytes;
  }

  /** Begins to close in good order, or shortens the current drain. */
  drain(drainMs: number, code: ResetCode, reason: string): void {
    this.closing.drain(drainMs, code, reason);
  }

  /** The last open stream has ended, and the connection stays. */
  idle(): void {
    this.owner.idle(this);
  }

  /** Probes the connection for a sign of life at once. */
  probe(): void {
    this.watchdog.probeNow();
  }

  /** The remote goes away. It has not processed this side's streams above `last`. Unsent streams can move to another socket. */
  goneAway(last: number, code: ResetCode, reason: string): void {
    const why = reason === '' ? 'the remote is going away' : reason;
    const cause: CloseCause = { how: 'reset', by: 'library', code: ResetCode.REFUSED, reason: why, payload: null };
    for (const stream of this.streams.unsentFirst())
      if (stream.unsent || (stream.local && Number(stream.id) > last)) loseSocket(this, stream, cause);
    this.scheduler.dropUnopened();
    if (code !== ResetCode.NO_ERROR) this.closing.expectRemoteClose();
    this.owner.goneAway(this, code);
  }

  /** Bytes of the current delivery: the reassembled payload with its headers, or its one message. Valid only during the delivery. */
  get arrivedBytes(): number {
    return Math.max(this.admission.messageBytes, this.reassembly.assembledBytes);
  }

  /** Answers a ping. */
  pong(nonce: string | null): void {
    try {
      this.replies.pong(nonce);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Shows the remote that this side lives. */
  signOfLife(): void {
    this.control.probe();
  }

  /** Ends the connection because of `error`. */
  fail(error: unknown): void {
    this.closing.fail(error);
  }

  /** Returns a reason that blames the remote, with the note of the limits appended. */
  noted(reason: string): string {
    return reason + (this.limits.note ?? '');
  }

  /** The socket has ended. */
  ended(): void {
    const close = this.transport.closed ?? abnormalClose();
    this.closing.stop();
    this.watchdog.stop();
    this.admission.stop();
    this.receiveBudget.stop();
    this.scheduler.stop(null);
    const loss = this.owner.ending(this, close);
    for (const stream of this.streams.unsentFirst()) loseSocket(this, stream, { how: 'lost', reason: loss.reason });
    this.control.connectionLost(loss.reason);
    this.#out.unsubscribe();
    this.scheduler.backlog.clear();
    this.streams.releaseResets();
    this.owner.ended(loss);
  }
}

/** The limits of a session. The session reads each limit at its use, because the owner may widen it. */
export interface SessionLimits extends Limits {
  /** A note at the end of each reason that blames the remote for a broken rule or passed limit. Default none. */
  readonly note?: string | undefined;
}

/** The parts and settings of a new session. */
export interface SessionOptions {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: SessionLimits;
  readonly isDialer: boolean;
  /** `null`: the session never probes its connection. */
  readonly keepalive: KeepaliveTimes | null;
  /** The most bytes of one encoded message. */
  readonly maxFrameBytes: number;
  /** The first id of this side's streams; default 1 for the dialer and 2 for the acceptor. */
  readonly firstId?: number;
  /** The number of this socket among the owner's sockets, from 1. */
  readonly number: number;
  readonly owner: SessionOwner;
  /** The connection's share of limits that hold for several connections together. Default none. */
  readonly share?: Share | null;
}

/** The end of a socket. */
export interface Loss {
  readonly reason: CloseReason;
  /** Continues after the end, once every stream has failed. */
  follow(): void;
}

/** The owner of sessions. A session reports events to its owner that concern more than one stream. */
export interface SessionOwner extends StreamOwner, FrameObserver {
  /** The remote has answered a ping after `rttMs`. */
  answered(rttMs: number): void;
  /** The last open stream of a socket has ended. */
  idle(session: Session): void;
  /** A notification of several messages has left, or never will. Later notifications may follow. */
  notified(session: Session): void;
  /** The remote goes away, so this socket accepts no new streams. */
  goneAway(session: Session, code: ResetCode): void;
  /** The socket has ended. Every live stream will fail with the reason of the returned loss. */
  ending(session: Session, close: SocketClose): Loss;
  /** Every live stream has failed. */
  ended(loss: Loss): void;
}

/** Counts frames, bytes and streams over all sockets of one owner. */
export class Tally {
  sentFrames = 0;
  /** Bytes of the sockets that have ended. Each open socket counts its own. */
  sentBytes = 0;
  receivedFrames = 0;
  receivedBytes = 0;
  opened = 0;
  /** How many streams have ended on both sides. Most streams do, and a Map takes some 200 bytes. */
  #ended = 0;
  /** How many streams have ended by another cause. */
  readonly #others = new LazyMap<string, number>();

  /** How many streams have ended, by cause. */
  get causes(): Record<string, number> {
    const others = Object.fromEntries(this.#others);
    return this.#ended === 0 ? others : { ended: this.#ended, ...others };
  }

  /** A stream has ended. */
  ended(cause: CloseCause): void {
    if (cause.how === 'ended') this.#ended++;
    else {
      const name = cause.how === 'reset' ? `${cause.by} reset ${nameOf(cause.code ?? ResetCode.NO_ERROR)}` : cause.how;
      this.#others.set(name, (this.#others.get(name) ?? 0) + 1);
    }
  }
}

/** A remote chooses its codes, so all codes without a meaning in the protocol share one name. */
function nameOf(code: number): string {
  return code >= 0 && code < FIRST_APPLICATION_CODE ? resetCodeName(code) : 'other';
}

/** One connection's share of limits that hold for several connections together. A program with such limits implements it. */
export interface Share extends HeldShare {
  /** Whether the connection holds more received bytes than an equal share, while all connections together hold many. If so, it reads later. */
  readonly holdsMuch: boolean;
  /** Returns why the remote may not open another stream, or `null`. */
  streamRefusal(): string | null;
  streamTaken(): void;
  streamReleased(): void;
  /** So many more bytes were queued, or are about to be written. */
  queued(bytes: number): void;
  /**
   * Returns whether senders have to wait. They wait while the connection has more bytes to send than an equal share, and all connections
   * together have many. Afterwards the share calls the task of {@link onRoom}.
   */
  mustWait(): boolean;
  /** Returns whether so many more bytes to send would exceed a limit. */
  overflowsWith(bytes: number): boolean;
  onRoom(task: () => void): void;
}

/** Sees the frames of connections. */
export interface FrameObserver {
  /** The connection of this number is about to encode a frame, or has decoded it from a message of `bytes`. */
  observed(connection: number, direction: FrameDirection, frame: Frame, bytes: number): void;
  /** Sees the size of sent frames; `null` if no code watches it. */
  readonly sized: {
    /** The connection has encoded a frame, and is about to write its message. */
    encoded(connection: number, frame: Frame, message: Message | SplitMessage): void;
  } | null;
}
