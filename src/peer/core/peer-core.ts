import { Observable } from 'rxjs';
import { log, logger } from '../../logger.js';
import type { CloseCause } from '../../session/base/close-cause.js';
import type { LiveStream } from '../../session/streams/live-stream.js';
import { Session } from '../../session/session.js';
import type { Loss, SessionOwner } from '../../session/session-owner.js';
import { steadyNow } from '../../transport/steady-clock.js';
import type { SocketClose, Transport } from '../../transport/transport.js';
import { CloseCode } from '../../wire/close-reason.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { Codec, Message } from '../../wire/codec.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { ConnectionFault } from '../../wire/fault.js';
import type { CompleteFrame, Frame, FrameDirection } from '../../wire/frame.js';
import { encodedLength } from '../../wire/length.js';
import { ResetCode } from '../../wire/reset-code.js';
import type { ResolvedClose } from '../base/close-options.js';
import { Deadlines } from '../stream/deadlines.js';
import { completeGuarded } from '../base/guard.js';
import { FrameLog } from '../base/log-frame.js';
import { closeLine, logStatus } from '../base/log-status.js';
import { warnOfRefusal } from '../base/log-refusal.js';
import { Hooks } from '../base/hooks.js';
import type { HandlerFailure } from '../base/hooks.js';
import type { PeerContext, ResolvedOptions } from '../base/options.js';
import type { FrameEvent, Peer } from '../peer.js';
import type { AnswerHost } from '../answers/answer-host.js';
import { IncomingStreams } from '../answers/incoming-streams.js';
import { AbortSignals } from '../stream/abort-signals.js';
import type { SocketSource } from './socket-source.js';
import { isOver, StatusTracker } from '../base/status.js';
import type { PeerStatus } from '../base/status.js';
import { NotificationQueue, OpenQueue } from '../stream/open-queue.js';

function refusal(reason: string): CloseCause {
  return { how: 'reset', by: 'library', code: ResetCode.REFUSED, reason, payload: null };
}

/** What ends the calls that wait when the remote goes away, and there will be no other socket. */
const GONE_AWAY = refusal('the remote went away before it had answered the hello');

let peers = 0;

/** What a peer is made of: its hooks, its streams that wait, its sessions, and where they come from. */
export class PeerCore implements SessionOwner, AnswerHost {
  readonly codec: Codec;
  context: PeerContext;
  readonly #number = ++peers;
  #remote = '';
  readonly hooks = new Hooks();
  readonly openQueue: OpenQueue;
  /** Those of {@link lastSession}. */
  readonly notifications = new NotificationQueue();
  readonly incoming: IncomingStreams;
  readonly status = new StatusTracker();
  readonly #sessions = new Set<Session>();
  #source: SocketSource | null = null;
  #peer: Peer | null = null;
  /** Made {@link ready} last, until it has ended. */
  #lastSession: Session | null = null;
  /** Its socket is open and its hello is not answered yet: it is not {@link ready}. */
  #handshaking: Session | null = null;
  readonly #frameLog = new FrameLog();
  #connections = 0;
  #frames$: Observable<FrameEvent> | null = null;
  #closes$: Observable<CloseReason> | null = null;
  #errors$: Observable<HandlerFailure> | null = null;
  #signals: AbortSignals | null = null;
  #deadlines: Deadlines | null = null;

  constructor(readonly options: ResolvedOptions) {
    this.codec = options.codec;
    this.context = options.context ?? {};
    this.openQueue = new OpenQueue(options.limits.maxQueuedBytes);
    this.incoming = new IncomingStreams(this);
    if (options.onError !== undefined) this.hooks.errors.add(options.onError);
  }

  /** Completes the construction: who the user holds, and where sockets come from. */
  belongTo(peer: Peer, source: SocketSource): void {
    this.#peer = peer;
    this.#source = source;
  }

  /** Names the peer in the log, among all of this program. */
  get label(): string {
    return `peer ${this.#number}${this.#remote === '' ? '' : ` (${this.#remote})`}`;
  }

  /** The peer without anything that an application sent. */
  describe(): string {
    let streams = this.openQueue.size;
    for (const session of this.#sessions) streams += session.streams.size;
    const side = this.options.isDialer ? 'dialer' : 'acceptor';
    const { label } = this;
    return `P${label.slice(1)} { state: ${this.status.now.state}, ${side}, streams: ${streams}, bufferedAmount: ${this.bufferedAmount} }`;
  }

  /** Sets the address of the other side, for the log. */
  setRemote(address: string): void {
    this.#remote = address;
  }

  get peer(): Peer {
    return completed(this.#peer);
  }

  get source(): SocketSource {
    return completed(this.#source);
  }

  /** Of the calls; made when one is given a signal. */
  get signals(): AbortSignals {
    return (this.#signals ??= new AbortSignals());
  }

  /** Of what must not take too long; made when something must not. */
  get deadlines(): Deadlines {
    return (this.#deadlines ??= new Deadlines());
  }

  get isClosed(): boolean {
    return this.status.now.state === 'closed';
  }

  /** The session that takes a new stream now; `null` where the last one has ended, drains, or has been told of a goaway. */
  get openSession(): Session | null {
    return this.#lastSession?.acceptsStreams === true ? this.#lastSession : null;
  }

  /** The session that was ready last, until it has ended; unlike {@link openSession} also while it drains. */
  get lastSession(): Session | null {
    return this.#lastSession;
  }

  get nextStreamId(): number | null {
    return this.#lastSession?.streams.nextId ?? null;
  }

  get sessions(): ReadonlySet<Session> {
    return this.#sessions;
  }

  /** Bytes that were accepted for sending and are still here. */
  get bufferedAmount(): number {
    let bytes = this.openQueue.bytes + this.notifications.bytes;
    for (const { transport, scheduler } of this.#sessions) bytes += transport.bufferedAmount + scheduler.backlog.bytes;
    return bytes;
  }

  // The same at each read, as templates and effects compare them.
  get frames$(): Observable<FrameEvent> {
    return (this.#frames$ ??= this.#until('frames$', (next) =>
      this.hooks.sizedFrames.add((seen) => {
        next({ ...seen, peer: this.peer });
      }),
    ));
  }

  get closes$(): Observable<CloseReason> {
    return (this.#closes$ ??= this.#until('closes$', (next) => this.hooks.closes.add(next)));
  }

  get errors$(): Observable<HandlerFailure> {
    return (this.#errors$ ??= this.#until('errors$', (next) =>
      this.hooks.errors.add((error, stream) => {
        next({ error, stream });
      }),
    ));
  }

  /** Makes a session of a socket that is open. It takes streams once it is {@link ready}, and reads once it is started. */
  adopt(transport: Transport): Session {
    const session = new Session({ ...this.options, transport, owner: this, number: ++this.#connections });
    this.#sessions.add(session);
    if (logger.isEnabledFor('debug')) log('debug', `${this.label} connection ${session.number} opened`);
    this.#handshaking = session;
    this.incoming.socketOpened();
    return session;
  }

  /** The session takes new streams, those that wait first; none where a goaway has come during the hello. */
  ready(session: Session, reconnects: number): void {
    this.#lastSession = session;
    this.#handshaking = null;
    const { goawayCode } = session;
    if (goawayCode === null) {
      this.#setStatus({ state: 'open', reconnects });
      this.openQueue.flushTo(session, this.notifications);
    } else {
      this.goneAway(session, goawayCode);
      if (!this.source.expectsSocket) this.openQueue.failAll(GONE_AWAY, null);
    }
  }

  /** Tells where the connection is. A socket that drains says more than the dial of its replacement. */
  report(status: PeerStatus): void {
    if (!this.#isDraining()) this.#setStatus(status);
  }

  /** Nothing comes any more: whoever waits is told, and the Observables complete. */
  finish(reason: CloseReason, error: AnyMuxError | null): void {
    if (this.isClosed) return;
    this.#lastSession = null;
    this.#setStatus({ state: 'closed', reason, error });
    this.openQueue.failAll({ how: 'lost', reason }, error);
    this.#deadlines?.close();
    this.incoming.complete();
    this.status.complete();
  }

  /** Ends every session in good order, and dials no more. */
  close({ drainMs, code, reason }: ResolvedClose): void {
    if (this.isClosed) return;
    this.source.stop();
    if (!isOver(this.status.now)) this.#setStatus({ state: 'draining', by: 'local' });
    for (const session of this.#sessions) session.drain(drainMs, code, reason);
  }

  /** The page became visible, or the network came back: every socket is asked for a sign of life, one that drains too. */
  probe(): void {
    for (const session of this.#sessions) session.probe();
  }

  /** The hello was refused: whoever sent it may not stay. */
  rejectHello(): void {
    for (const session of this.#sessions) session.fail(new ConnectionFault('the hello was refused', ResetCode.REFUSED, CloseCode.POLICY));
  }

  // From the sessions

  accept(live: LiveStream, open: CompleteFrame): void {
    this.incoming.receive(live, open);
  }

  observed(session: Session, direction: FrameDirection, frame: Frame, bytes: number): void {
    if (logger.isEnabledFor('debug')) this.#frameLog.frame(this.label, session.number, direction, frame);
    this.hooks.observed(direction, frame);
    if (direction === 'rx' && !this.hooks.sizedFrames.empty) this.#sized(session, direction, frame, bytes);
  }

  encoded(session: Session, frame: Frame, message: Message): void {
    if (!this.hooks.sizedFrames.empty) this.#sized(session, 'tx', frame, encodedLength(message));
  }

  notified(session: Session): void {
    // Of a session that takes none any more `goneAway` or `ended` moves them.
    if (!session.takesNotifications) return;
    this.notifications.follow(session);
    if (!session.isNotifying && !this.notifications.empty)
      this.#moveNotifications(this.source.replace(), refusal('this connection has used all stream ids'));
  }

  goneAway(session: Session, code: ResetCode): void {
    if (this.#lastSession === session) this.#moveNotifications(this.source.expectsSocket, refusal('the remote went away'));
    if (this.#lastSession === session && this.status.now.state !== 'draining') this.#setStatus({ state: 'draining', by: 'remote' });
    this.source.goneAway(session, code);
  }

  refused(code: ResetCode, reason: string): void {
    warnOfRefusal(this.label, code, reason);
  }

  ending(session: Session, close: SocketClose): Loss {
    this.#sessions.delete(session);
    this.#frameLog.clear();
    if (logger.isEnabledFor('debug')) log('debug', `${this.label} connection ${session.number} ended: ${closeLine(close)}`);
    if (this.#handshaking === session) this.#handshaking = null;
    if (this.#lastSession === session) {
      this.#lastSession = null;
      // A replacement is lost while the socket before it still drains.
      if (this.status.now.state === 'open' && this.#isDraining()) this.#setStatus({ state: 'draining', by: 'remote' });
    }
    return this.source.lost(session, close);
  }

  /** A socket has ended, or a dial has failed. */
  ended(loss: Loss): void {
    const { reason } = loss;
    if (this.#lastSession === null) this.#moveNotifications(this.source.expectsSocket, { how: 'lost', reason });
    // Whoever was told before may have closed the peer.
    this.hooks.closed(() => (reason.willRetry && !this.source.expectsSocket ? { ...reason, willRetry: false } : reason));
    loss.follow();
  }

  #sized({ number }: Session, direction: FrameDirection, frame: Frame, bytes: number): void {
    this.hooks.sized({ direction, frame, connection: number, at: steadyNow(), bytes });
  }

  /** Notifications that have not left go to the next socket, where one is expected. */
  #moveNotifications(isExpected: boolean, cause: CloseCause): void {
    if (isExpected) this.notifications.moveTo(this.openQueue);
    else this.notifications.failAll(cause, null, cause.how === 'reset' ? cause.reason : 'the connection was lost');
  }

  /** Whether there are sockets besides the one whose hello is under way. */
  #isDraining(): boolean {
    return this.#sessions.size > (this.#handshaking === null ? 0 : 1);
  }

  #setStatus(status: PeerStatus): void {
    logStatus(this.label, status);
    this.status.set(status);
  }

  #until<T>(name: string, register: (next: (value: T) => void) => () => void): Observable<T> {
    return new Observable((subscriber) => {
      subscriber.add(
        register((value) => {
          subscriber.next(value);
        }),
      );
      subscriber.add(
        this.status.status$.subscribe({
          complete() {
            completeGuarded(`a subscriber of ${name}`, subscriber);
          },
        }),
      );
    });
  }
}

function completed<T>(part: T | null): T {
  if (part === null) throw new Error('the peer is not complete yet');
  return part;
}
