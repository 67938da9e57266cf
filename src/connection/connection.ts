import { RestartingPipeline } from '../rx/pipeline.js';
import type { CloseCause } from '../session/base/close-cause.js';
import { FloodGuard } from '../session/base/flood-guard.js';
import type { Share } from '../session/base/share.js';
import { Inbound } from '../session/inbound.js';
import { Outbound } from '../session/outbound.js';
import { AnswerHold } from '../session/receive/answer-hold.js';
import { ReadBackpressure } from '../session/receive/read-backpressure.js';
import type { SessionLimits, SessionOptions } from '../session/session-options.js';
import type { SessionOwner } from '../session/session-owner.js';
import { Departures } from '../session/streams/departures.js';
import { loseSocket } from '../session/streams/lose-socket.js';
import { NotificationTurn } from '../session/streams/notification-turn.js';
import { StreamTable } from '../session/streams/stream-table.js';
import type { LiveStream } from '../stream/stream-core.js';
import { abnormalClose } from '../transport/transport.js';
import type { Transport } from '../transport/transport.js';
import type { Codec } from '../wire/codec.js';
import { ResetCode } from '../wire/codes.js';
import { Reassembly } from '../wire/reassembly.js';
import { ReceiveBudget } from './budget.js';
import { Closing } from './closing.js';
import { ControlStream } from './control.js';
import { Admission } from './inbound.js';
import { Scheduler } from './outbound.js';
import { ControlReplies } from './replies.js';
import { Transit } from './transit.js';
import { Watchdog } from './watchdog.js';

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
