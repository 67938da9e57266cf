import type { Carrier, StreamCore, StreamOwner } from '../stream/stream-core.js';
import { abnormalClose } from '../transport/transport.js';
import type { SocketClose, Transport } from '../transport/transport.js';
import type { Codec, Message } from '../wire/codec.js';
import { ResetCode } from '../wire/codes.js';
import type { CloseReason } from '../wire/codes.js';
import { libraryReset, overtakes } from '../stream/end.js';
import { StreamIdsExhaustedError } from '../wire/errors.js';
import type { Frame, FrameDirection } from '../wire/frame.js';
import type { Limits } from '../wire/limits.js';
import { Reassembly } from '../wire/reassembly.js';
import type { HeldShare } from '../wire/reassembly.js';
import type { EncodedFrame } from '../wire/shared.js';
import { Budget, ReadBackpressure } from './budget.js';
import { Closing } from './closing.js';
import { ControlStream } from './control.js';
import { FloodGuard, Inbound } from './inbound.js';
import { Outbound } from './outbound.js';
import { ControlReplies, resetFrame } from './replies.js';
import { StreamMap } from './stream-map.js';
import { Transit } from './transit.js';
import { Watchdog } from './watchdog.js';
import type { KeepaliveTimes } from './watchdog.js';

/** One socket's life: its streams by id, and two pipelines. {@link Inbound} is the way in, {@link Outbound} the way out. */
export class Connection implements Carrier {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: ConnectionLimits;
  readonly isDialer: boolean;
  readonly number: number;
  readonly maxFrameBytes: number;
  readonly share: Share | null;
  readonly owner: ConnectionOwner;
  /** The live streams. */
  readonly streams = new StreamMap<StreamCore>();
  readonly reading: ReadBackpressure;
  readonly budget: Budget;
  readonly flood: FloodGuard;
  readonly control: ControlStream;
  readonly transit: Transit;
  readonly inbound: Inbound;
  readonly outbound: Outbound;
  readonly replies: ControlReplies;
  readonly watchdog: Watchdog;
  readonly reassembly: Reassembly;
  /** The places that remote streams hold. */
  places = 0;
  /** The id of this side's next stream. Ids end at 2^53 − 1. */
  nextId: number;
  /**
   * Whether streams may still open, send or receive. `flushing`: everything accepted is written out. `arriving`: the remote reads the bytes on
   * their way. `shutting`: the WebSocket closes. `closed`: nothing is written or read any more.
   */
  phase: 'open' | 'draining' | 'flushing' | 'arriving' | 'shutting' | 'closed' = 'open';
  #closing: Closing | null = null;
  #highestSent = 0;

  constructor(options: ConnectionOptions) {
    const { transport, codec, limits, isDialer } = options;
    this.transport = transport;
    this.codec = codec;
    this.limits = limits;
    this.isDialer = isDialer;
    this.number = options.number;
    this.maxFrameBytes = options.maxFrameBytes;
    this.owner = options.owner;
    this.share = options.share ?? null;
    this.nextId = options.firstId ?? (isDialer ? 1 : 2);
    this.reading = new ReadBackpressure(transport, limits.pauseMs);
    this.budget = new Budget(limits, this.reading, this, this.share);
    this.flood = new FloodGuard(limits);
    this.control = new ControlStream(this);
    this.transit = new Transit(transport, this.control);
    this.inbound = new Inbound(this);
    this.outbound = new Outbound(this);
    this.replies = new ControlReplies(this);
    this.watchdog = new Watchdog(this, options.keepalive);
    this.reassembly = new Reassembly(codec, limits, this.budget.held, this.watchdog.fragments);
    this.outbound.start();
  }

  /** Begins to read. Until then the transport keeps arriving messages. */
  start(): void {
    this.inbound.start();
    this.watchdog.start();
  }

  // Its streams

  /**
   * Accepts a stream of this side. The caller must send its open before the connection adopts another stream.
   *
   * @throws StreamIdsExhaustedError if no id is left
   */
  adopt(stream: StreamCore): void {
    if (this.isExhausted) throw new StreamIdsExhaustedError('expected a free stream id, got none: this connection has used all of them');
    const id = this.takeId();
    stream.enter(this, id);
    this.streams.set(id, stream);
  }

  /** Returns the id of a new stream of this side. */
  takeId(): number {
    const id = this.nextId;
    this.nextId += 2;
    this.owner.tally.opened++;
    return id;
  }

  /** Whether this side has used all stream ids (S1). */
  get isExhausted(): boolean {
    return !Number.isSafeInteger(this.nextId);
  }

  /** Returns whether an id belongs to this side. Odd ids belong to the dialer. */
  owns(id: number): boolean {
    return (id % 2 === 1) === this.isDialer;
  }

  /** The open of this side's stream `id` has left, or its first slice. */
  opened(id: number): void {
    this.#highestSent = Math.max(this.#highestSent, id);
  }

  /** Returns whether this side has ever sent stream `id`, so that the remote may know it. */
  hasOpened(id: number): boolean {
    return id <= this.#highestSent;
  }

  takePlace(): void {
    this.places++;
    this.share?.streamTaken();
  }

  releasePlace(): void {
    this.places--;
    this.share?.streamReleased();
  }

  dispatched(id: number): void {
    this.control.goaway.dispatched(id);
  }

  reset(stream: StreamCore, code: ResetCode | null, reason: string, payload: unknown, encodedPayload: Message | null): void {
    this.outbound.addReset(stream, resetFrame(this, Number(stream.id), code, reason, payload, encodedPayload), overtakes(code));
  }

  forget(stream: StreamCore): void {
    const id = Number(stream.id);
    this.streams.delete(id);
    this.reassembly.release(id);
  }

  released(stream: StreamCore): void {
    this.outbound.released(stream);
    if (this.streams.size > 0) return;
    // A draining socket closes after its last stream.
    if (this.phase === 'draining') this.closing.finish();
    else if (this.phase === 'open') this.owner.idle(this, stream);
  }

  /** Returns the live streams, the unsent ones first: they keep their places ahead of streams that the owners of failed streams open. */
  #unsentFirst(): StreamCore[] {
    const streams = this.streams.values();
    return [...streams.filter(({ unsent }) => unsent), ...streams.filter(({ unsent }) => !unsent)];
  }

  // For its owner

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

  /** Probes the connection for a sign of life at once. */
  probe(): void {
    this.watchdog.probeNow();
  }

  // Its end

  /** Whether the connection has failed or ended. It then drops later frames. */
  get isOver(): boolean {
    return this.phase === 'closed';
  }

  /** Ends the connection in good order; made for the first step of that. */
  get closing(): Closing {
    return (this.#closing ??= new Closing(this));
  }

  /** The remote goes away. It has not processed this side's streams above `last`. Unsent streams can move to another socket. */
  goneAway(last: number, code: ResetCode, reason: string): void {
    const cause = libraryReset(reason === '' ? 'the remote is going away' : reason);
    for (const stream of this.#unsentFirst()) if (stream.unsent || (stream.local && Number(stream.id) > last)) stream.lose(cause);
    this.outbound.dropUnopened();
    if (code !== ResetCode.NO_ERROR) this.closing.expectRemoteClose();
    this.owner.goneAway(this, code);
  }

  /** Ends the connection because of `error`. */
  fail(error: unknown): void {
    this.closing.fail(error);
  }

  /** The socket has ended. */
  ended(): void {
    const close = this.transport.closed ?? abnormalClose();
    this.closing.stop();
    this.watchdog.stop();
    this.inbound.stop();
    this.budget.stop();
    this.outbound.stop(null);
    const loss = this.owner.ending(this, close);
    for (const stream of this.#unsentFirst()) stream.lose({ how: 'lost', reason: loss.reason });
    this.control.connectionLost(loss.reason);
    this.outbound.clear();
    this.owner.ended(loss);
  }

  // For its parts

  /** Bytes of the current delivery: the reassembled payload with its headers, or its one message. Valid only during the delivery. */
  get arrivedBytes(): number {
    return Math.max(this.inbound.messageBytes, this.reassembly.assembledBytes);
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

  /** Returns a reason that blames the remote, with the note of the limits appended. */
  noted(reason: string): string {
    return reason + (this.limits.note ?? '');
  }
}

/** The limits of a connection. The connection reads each limit at its use, because the owner may widen it. */
export interface ConnectionLimits extends Limits {
  /** A note at the end of each reason that blames the remote for a broken rule or passed limit. Default none. */
  readonly note?: string | undefined;
}

/** The parts and settings of a new connection. */
export interface ConnectionOptions {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly limits: ConnectionLimits;
  readonly isDialer: boolean;
  /** `null`: the connection is never probed. */
  readonly keepalive: KeepaliveTimes | null;
  /** The most bytes of one encoded message. */
  readonly maxFrameBytes: number;
  /** The first id of this side's streams; default 1 for the dialer and 2 for the acceptor. */
  readonly firstId?: number;
  /** The number of this socket among the owner's sockets, from 1. */
  readonly number: number;
  readonly owner: ConnectionOwner;
  /** The connection's share of limits that hold for several connections together. Default none. */
  readonly share?: Share | null;
}

/** The end of a socket. */
export interface Loss {
  readonly reason: CloseReason;
  /** Continues after the end, once every stream has failed. */
  follow(): void;
}

/** The peer of a connection, as the connection sees it. `PeerCore` implements it, which lies above. It hears of events that concern more than one stream. */
export interface ConnectionOwner extends StreamOwner, FrameObserver {
  /** Makes the stream for an open of the remote, which may not have arrived whole. */
  remoteStream(): StreamCore;
  /** The remote has answered a ping after `rttMs`. */
  answered(rttMs: number): void;
  /** `last`, the last open stream of a socket, has ended. */
  idle(connection: Connection, last: StreamCore): void;
  /** A notification of several messages has left, or never will. Later notifications may follow. */
  notified(connection: Connection): void;
  /** The remote goes away, so this socket accepts no new streams. */
  goneAway(connection: Connection, code: ResetCode): void;
  /** The socket has ended. Every live stream will fail with the reason of the returned loss. */
  ending(connection: Connection, close: SocketClose): Loss;
  /** Every live stream has failed. */
  ended(loss: Loss): void;
}

/** One connection's share of limits that hold for several connections together. A program with such limits implements it. */
export interface Share extends HeldShare {
  /** Whether the connection holds more received bytes than an equal share, while all connections together hold many. If so, it reads later. */
  readonly holdsMuch: boolean;
  /** Returns why the remote may not open another stream, or `null`. */
  streamRefusal(): string | null;
  streamTaken(): void;
  streamReleased(): void;
  /** `bytes` more were queued, or are about to be written. */
  queued(bytes: number): void;
  /**
   * Returns whether senders have to wait. They wait while the connection has more bytes to send than an equal share, and all connections
   * together have many. Afterwards the share calls the task of {@link onRoom}.
   */
  mustWait(): boolean;
  /** Returns whether `bytes` more to send would exceed a limit. */
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
    encoded(connection: number, frame: Frame, message: EncodedFrame): void;
  } | null;
}
