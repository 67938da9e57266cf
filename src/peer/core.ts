import type { Observable } from 'rxjs';
import { Connection } from '../connection/connection.js';
import type { ConnectionOwner, Loss, Share } from '../connection/connection.js';
import { logger } from '../logger.js';
import { AbortSignals, Deadlines } from '../stream/deadlines.js';
import { Tally, libraryReset } from '../stream/end.js';
import type { CloseCause } from '../stream/end.js';
import { StreamCore } from '../stream/stream-core.js';
import type { Absence, StreamOwner } from '../stream/stream-core.js';
import type { SocketClose, Transport } from '../transport/transport.js';
import type { Codec } from '../wire/codec.js';
import { CloseCode } from '../wire/codes.js';
import type { CloseReason, ResetCode } from '../wire/codes.js';
import { closeText } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';
import { ABSENT } from '../wire/frame.js';
import type { Frame, FrameDirection } from '../wire/frame.js';
import { IncomingStreams } from './answers.js';
import type { SizedFrames } from './events.js';
import { Hooks, NO_HOOKS } from './hooks.js';
import type { HooksToRun, Tracer } from './hooks.js';
import type { PeerLog } from './debug-log.js';
import { debugging, warnOfRefusal } from './log.js';
import type { PeerContext, ResolvedClose, ResolvedOptions } from './options.js';
import type { Peer } from './peer.js';
import { StatusTracker, isOver } from './status.js';
import type { PeerStatus } from './status.js';
import { Notifications, Waiting } from './waiting.js';

/** Ends the calls that still wait when the remote goes away and no other socket will come. */
const GONE_AWAY = libraryReset('the remote went away before it had answered the hello');

let peers = 0;

/** The parts of a peer: its hooks, its waiting streams, its connections, and the source of its sockets. */
export class PeerCore implements ConnectionOwner {
  readonly codec: Codec;
  /** `null` before the first look at an empty one. */
  context: PeerContext | null;
  readonly #number = ++peers;
  /** The address of the other side, without credentials and query; empty while it is not known. */
  remote = '';
  hooks: HooksToRun = NO_HOOKS;
  /** Streams that wait for a socket. */
  readonly waiting: Waiting;
  /** Notifications of {@link lastConnection}. */
  readonly notifications = new Notifications();
  readonly incoming: IncomingStreams;
  readonly status = new StatusTracker();
  /** The last round trip of a ping, in ms; `null` before the first. */
  rttMs: number | null = null;
  /** Made by `sizedFramesOf`, for the first observer. */
  sized: SizedFrames | null = null;
  /** The hooks as Observables, by name; made on first use. */
  events: Map<string, Observable<unknown>> | null = null;
  /** Follows the streams; `null` for none. */
  tracer: Tracer | null = null;
  readonly tally = new Tally();
  /** The share of limits together with other connections; `null` for none. */
  share: Share | null = null;
  sendShared: StreamOwner['sendShared'] = null;
  /** There are seldom two. */
  #connections: readonly Connection[] = [];
  #source: SocketSource | null = null;
  #peer: Peer | null = null;
  /** The last connection that became {@link ready}, until it ends. */
  #lastConnection: Connection | null = null;
  /** The connection whose socket is open, but whose hello is not answered yet, so that it is not {@link ready}. */
  #handshaking: Connection | null = null;
  #log: PeerLog | null = null;
  #opened = 0;
  #wasClosed = false;
  #ownHooks: Hooks | null = null;
  #signals: AbortSignals | null = null;
  #deadlines: Deadlines | null = null;

  constructor(readonly options: ResolvedOptions) {
    this.codec = options.codec;
    this.context = options.context ?? null;
    this.waiting = new Waiting(options.limits.maxQueuedBytes);
    this.incoming = new IncomingStreams(this);
    if (options.onError !== undefined) this.ownHooks.errors.add(options.onError);
  }

  /** Completes the construction with the user's peer and the source of its sockets. */
  belongTo(peer: Peer, source: SocketSource): void {
    this.#peer = peer;
    this.#source = source;
  }

  /** Names the peer in the log. The name is unique in this program. */
  get label(): string {
    return `peer ${this.#number}${this.remote === '' ? '' : ` (${this.remote})`}`;
  }

  /** Describes the peer, without any data of the application. */
  describe(): string {
    let streams = this.waiting.size;
    for (const connection of this.#connections) streams += connection.streams.size;
    const side = this.options.isDialer ? 'dialer' : 'acceptor';
    const { label } = this;
    return `P${label.slice(1)} { state: ${this.status.now.state}, ${side}, streams: ${streams}, bufferedAmount: ${this.bufferedAmount} }`;
  }

  get peer(): Peer {
    return completed(this.#peer);
  }

  get source(): SocketSource {
    return completed(this.#source);
  }

  /** The lists for a new hook; made for the first one. */
  get ownHooks(): Hooks {
    return (this.#ownHooks ??= this.hooks = new Hooks());
  }

  /** Abort signals of the calls; created at the first call with a signal. */
  get signals(): AbortSignals {
    return (this.#signals ??= new AbortSignals());
  }

  /** Time limits; created on first use. */
  get deadlines(): Deadlines {
    return (this.#deadlines ??= new Deadlines());
  }

  get hasClosed(): boolean {
    return this.status.now.state === 'closed';
  }

  /** The connection that accepts new streams now; `null` if the last one has ended, drains, or has received a goaway. */
  get openConnection(): Connection | null {
    return this.#lastConnection?.acceptsStreams === true ? this.#lastConnection : null;
  }

  /** The last connection that became ready, until it ends. Unlike {@link openConnection}, it includes a draining connection. */
  get lastConnection(): Connection | null {
    return this.#lastConnection;
  }

  get nextStreamId(): number | null {
    return this.#lastConnection?.nextId ?? null;
  }

  get isClosing(): boolean {
    const { now } = this.status;
    return now.state === 'draining' && now.by === 'local';
  }

  get expectsSocket(): boolean {
    return this.source.expectsSocket;
  }

  get absence(): Absence {
    return this.source.absence;
  }

  /** Why this peer opens no more streams. */
  get epitaph(): string {
    const { now } = this.status;
    if (this.#wasClosed) return 'this peer was closed';
    return `its socket is ${now.state === 'closed' ? `gone (${closeText(now.reason)})` : 'closing'}${this.source.remedy}`;
  }

  get connections(): readonly Connection[] {
    return this.#connections;
  }

  /** Bytes that were accepted for sending and have not left this process. */
  get bufferedAmount(): number {
    let bytes = this.waiting.bytes + this.notifications.bytes;
    for (const { transport, outbound } of this.#connections) bytes += transport.bufferedAmount + outbound.bytes;
    return bytes;
  }

  /** Makes the connection of a socket, which may still be connecting. The connection reads once it is started. */
  connectionOver(transport: Transport): Connection {
    return new Connection({ ...this.options, transport, owner: this, share: this.share, number: this.#opened + 1 });
  }

  /** The socket of a connection is open. The connection accepts streams once it is {@link ready}. */
  adopt(connection: Connection): void {
    this.#opened++;
    this.#connections = this.#connections.concat(connection);
    this.#debugLog()?.opened(connection.number);
    this.#handshaking = connection;
    this.incoming.gate?.socketOpened();
  }

  /** New streams go to the connection from now on, the waiting ones first. If a goaway came during the hello, the connection accepts none. */
  ready(connection: Connection, reconnects: number): void {
    this.#lastConnection = connection;
    this.#handshaking = null;
    const { goawayCode } = connection;
    if (goawayCode === null) {
      this.#setStatus({ state: 'open', reconnects });
      this.waiting.flushTo(connection, this.notifications);
    } else this.goneAway(connection, goawayCode);
    if (this.waiting.empty || this.source.expectsSocket) return;
    // A hook of a call that waited may have closed the peer while others waited behind it.
    this.waiting.failAll(goawayCode === null ? libraryReset(this.epitaph) : GONE_AWAY, null);
  }

  /** Reports the state of the connection, unless a socket drains: its state takes precedence over the dial of its replacement. */
  report(status: PeerStatus): void {
    if (!this.#isDraining()) this.#setStatus(status);
  }

  /** Closes the peer: waiting calls fail, and the Observables complete. */
  finish(reason: CloseReason, error: AnyMuxError | null): void {
    if (this.hasClosed) return;
    this.#lastConnection = null;
    this.#setStatus({ state: 'closed', reason, error });
    this.waiting.failAll({ how: 'lost', reason }, error);
    this.#deadlines?.close();
    this.incoming.complete();
    this.status.complete();
  }

  /** Closes every connection in good order, and stops dialing. */
  close({ drainMs, code, reason }: ResolvedClose): void {
    if (this.hasClosed) return;
    this.#wasClosed = true;
    this.source.stop();
    if (!isOver(this.status.now)) this.#setStatus({ state: 'draining', by: 'local' });
    for (const connection of this.#connections) connection.drain(drainMs, code, reason);
  }

  /** Asks every socket for a sign of life, a draining one too: the page became visible, or the network came back. */
  probe(): void {
    for (const connection of this.#connections) connection.probe();
  }

  // From the connections

  remoteStream(): StreamCore {
    return new StreamCore(this, false, false, null, ABSENT);
  }

  accept(stream: StreamCore): void {
    this.incoming.receive(stream);
  }

  requeue(stream: StreamCore): void {
    this.waiting.requeue(stream);
  }

  observed(connection: number, direction: FrameDirection, frame: Frame, bytes: number): void {
    this.#debugLog()?.frame(connection, direction, frame);
    for (const { hook } of this.hooks.frames.entries) hook(direction, frame);
    if (direction === 'rx') this.sized?.received(connection, frame, bytes);
  }

  idle(connection: Connection, last: StreamCore | null): void {
    this.source.idle(connection, last);
  }

  answered(rttMs: number): void {
    this.rttMs = rttMs;
    for (const { hook } of this.hooks.roundTrips.entries) hook(rttMs);
  }

  notified(connection: Connection): void {
    // `goneAway` or `ended` moves the notifications of a connection that accepts none.
    if (connection.isOver || connection.goawayCode !== null) return;
    this.notifications.follow(connection);
    if (!connection.outbound.isNotifying && !this.notifications.empty)
      this.#moveNotifications(this.source.replace(), libraryReset('this connection has used all stream ids'));
  }

  goneAway(connection: Connection, code: ResetCode): void {
    if (this.#lastConnection === connection) this.#moveNotifications(this.source.expectsSocket, libraryReset('the remote went away'));
    if (this.#lastConnection === connection && this.status.now.state !== 'draining') this.#setStatus({ state: 'draining', by: 'remote' });
    this.source.goneAway(connection, code);
  }

  refused(code: ResetCode, reason: string, label = this.label): void {
    warnOfRefusal(this.options.refusals, label, code, reason);
  }

  ending(connection: Connection, close: SocketClose): Loss {
    this.#connections = this.#connections.filter((each) => each !== connection);
    this.tally.sentBytes += connection.sentBytes;
    this.#debugLog()?.ended(connection.number, close);
    if (this.#handshaking === connection) this.#handshaking = null;
    if (this.#lastConnection === connection) {
      this.#lastConnection = null;
      this.status.stale = this.status.now;
      // The replacement is lost, while the socket before it still drains.
      if (this.status.now.state === 'open' && this.#isDraining()) this.#setStatus({ state: 'draining', by: 'remote' });
    }
    return this.source.lost(connection, close);
  }

  /** Called when a socket has ended or a dial has failed. */
  ended(loss: Loss): void {
    const { reason } = loss;
    if (this.#lastConnection === null) this.#moveNotifications(this.source.expectsSocket, { how: 'lost', reason });
    // An earlier close handler may have closed the peer.
    this.hooks.closed(() => (reason.willRetry && !this.source.expectsSocket ? { ...reason, willRetry: false } : reason));
    loss.follow();
  }

  /** Moves unsent notifications to the next socket if one is expected. Otherwise they fail. */
  #moveNotifications(isExpected: boolean, cause: CloseCause): void {
    if (isExpected) this.notifications.moveTo(this.waiting);
    else this.notifications.failAll(cause, null, cause.how === 'reset' ? cause.reason : 'the connection was lost');
  }

  /** Whether a socket is open besides the one whose hello is under way. */
  #isDraining(): boolean {
    return this.#connections.length > (this.#handshaking === null ? 0 : 1);
  }

  /** The log of what this peer does, made at the first line; `null` while the level is not `debug`. */
  #debugLog(): PeerLog | null {
    return logger.isEnabledFor('debug') ? (this.#log ??= debugging.logOf?.(this) ?? null) : null;
  }

  #setStatus(status: PeerStatus): void {
    this.#debugLog()?.status(status);
    this.status.set(status);
  }
}

function completed<T>(part: T | null): T {
  if (part === null) throw new Error('the peer is not complete yet');
  return part;
}

/** The source of a peer's sockets: the one socket that it received, or the sockets that it dials, one after the other. */
export interface SocketSource {
  /** Whether a stream without a socket may wait for one. */
  readonly expectsSocket: boolean;
  readonly absence: Absence;
  /** Says why no other socket follows the last one. */
  readonly remedy: string;
  /** Starts, and passes each socket that opens to `PeerCore.adopt`. */
  start(): void;
  /** Called when a stream needs a socket. A dialing source then dials, unless it has begun. */
  ensureDialing(): void;
  /** Dials now, without the rest of a delay. */
  dialNow(): void;
  /** Dials another socket, because the ids of the current one are used up. Returns `false` if there can be no other socket. */
  replace(): boolean;
  /** Called when the remote of a connection goes away; `code` is NO_ERROR if there is no error. */
  goneAway(connection: Connection, code: ResetCode): void;
  /** No stream is open on a connection any more. `last` has ended, or a notification without a stream. */
  idle(connection: Connection, last: StreamCore | null): void;
  /**
   * Called when a connection's socket has ended. Decides `willRetry` now, before streams fail and `onClose` runs; `Loss.follow` acts on it
   * after them.
   */
  lost(connection: Connection, close: SocketClose): Loss;
  /** Stops dialing. */
  stop(): void;
}

/** The reason of a peer that was closed before it had a socket. */
export const NEVER_OPEN: CloseReason = { code: CloseCode.CLEAN, reason: 'closed before it was open', wasClean: false, willRetry: false };
