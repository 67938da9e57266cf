import { Subject } from 'rxjs';
import type { Subscriber, TeardownLogic, Unsubscribable } from 'rxjs';
import { log } from '../logger.js';
import { steadyNow } from '../util/time.js';
import type { Codec, Message } from '../wire/codec.js';
import { ResetCode } from '../wire/codes.js';
import { CancelledError, DeadlineExceededError, StreamFault } from '../wire/errors.js';
import type { AnyMuxError, StreamError } from '../wire/errors.js';
import { ABSENT } from '../wire/frame.js';
import type { Frame, FrameOf, Metadata, StreamFrame } from '../wire/frame.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import { weightOf } from '../wire/reassembly.js';
import type { AbortSignals, Abortable, Deadline, Deadlined, Deadlines } from './deadlines.js';
import { ENDED, causeError, overtakes } from './end.js';
import type { CloseCause, ErrorSerializer, Tally } from './end.js';
import type { StreamExtras } from './extras.js';
import { NO_HELLO, isMarked } from './hello-mark.js';
import type { Label } from './label.js';
import type { SharedPayload } from './payload.js';
import { Receiving, deliverEnd } from './receiving.js';
import type { Excess, Reader } from './receiving.js';
import { Sending, runAll, takeTasks } from './sending.js';
import { TABLE } from './state.js';
import type { StreamInput, StreamPhase, StreamRow } from './state.js';
import { Stream } from './stream.js';

/** Where the frames of streams wait: for their turn at a socket, or for a socket. */
export interface Place {
  /** Sends a frame of a stream, or keeps it until its turn. */
  add(stream: StreamCore, frame: OutgoingFrame): void;
  /** Returns whether a stream can send more without growing a long queue. */
  hasRoom(stream: StreamCore): boolean;
  /** Returns whether a value of `bytes` must fail if it did not wait for room, because the queue of all streams is so full. */
  overflowsWith(stream: StreamCore, bytes: number): boolean;
  /** Returns whether a frame of the stream would leave at once. */
  hasDemand(stream: StreamCore): boolean;
  /** A task of the stream waits for room or for demand. The place runs it then, or when the stream leaves. */
  waits(stream: StreamCore, what: 'room' | 'demand'): void;
  /** The stream leaves the place. Its frames stay in the stream. */
  remove(stream: StreamCore): void;
}

/** The connection that carries a stream, as the stream sees it. `Connection` implements it, which lies above the streams. */
export interface Carrier {
  readonly codec: Codec;
  readonly outbound: Place;
  /** Bytes of the payload in delivery, with its headers. */
  readonly arrivedBytes: number;
  /** Counts the bytes that streams keep, and slows the remote. */
  readonly budget: {
    keep(stream: StreamCore, unread: number, bytes: number, weight: number): Excess | null;
    read(stream: StreamCore, unread: number, bytes: number, weight: number): void;
    attach(bytes: number): Excess | null;
    /** Unfinished and unread payloads, and what lives as long as its stream. */
    readonly held: Releasing;
    readonly attached: Releasing;
    unblock(stream: StreamCore): void;
  };
  /** Counts the acts that a remote may not do without end. */
  readonly flood: {
    countEarlyReset(): void;
    countProvokedReset(code: ResetCode): void;
    countJunk(what: string): void;
  };
  /** A stream of the remote takes one of the places of `maxStreams`, or frees it. */
  takePlace(): void;
  releasePlace(): void;
  /** A user has taken stream `id` of the remote. */
  dispatched(id: number): void;
  /** Queues a reset of a stream that has left. One that overtakes drops the queued frames of the stream. */
  reset(stream: StreamCore, code: ResetCode | null, reason: string, payload: unknown, encodedPayload: Message | null): void;
  /** A stream is closed, or moves to another socket. Its unfinished payload is dropped. */
  forget(stream: StreamCore): void;
  /** The user of a stream knows its end, or the stream has moved. */
  released(stream: StreamCore): void;
  /** Returns a reason that blames the remote, with the note of the limits appended. */
  noted(reason: string): string;
  /** Ends the connection because of `error`. */
  fail(error: unknown): void;
}

/** Counts bytes until they are released. */
interface Releasing {
  release(bytes: number): void;
}

/** Why a peer has no open socket. An unsent call that ends reports it. */
export interface Absence {
  readonly reason: string;
  /** The error of the last dial, if it failed. */
  readonly error: AnyMuxError | null;
}

/** Callbacks of one kind. */
interface Hooked<F> {
  readonly entries: readonly { readonly hook: F }[];
}

/** The peer of a stream, as the stream sees it. `PeerCore` implements it, which lies above the streams. */
export interface StreamOwner {
  readonly peer: Stream['peer'];
  /** Names the peer in the log. */
  readonly label: string;
  readonly codec: Codec;
  readonly options: { readonly errorSerializer: ErrorSerializer; readonly label: Label; readonly maxFrameBytes: number };
  readonly hooks: {
    readonly replyHeaders: Hooked<(headers: Metadata, stream: Stream) => void>;
    readonly incomingHeaders: Hooked<(headers: Readonly<Metadata>, stream: Stream) => void>;
    readonly errors: Hooked<(error: unknown, stream: Stream) => void>;
  };
  readonly tally: Tally;
  readonly deadlines: Deadlines;
  readonly signals: AbortSignals;
  /** Whether this side closes the peer. */
  readonly isClosing: boolean;
  /** Whether a stream without a socket may wait for one. */
  readonly expectsSocket: boolean;
  readonly absence: Absence;
  /** Sends a shared payload in a shorter way than as a frame, if it can leave at once. Returns whether it has left. `null` for no such way. */
  readonly sendShared: ((stream: StreamCore, payload: SharedPayload) => boolean) | null;
  /** The id of this side's next stream; `null` without a socket. */
  readonly nextStreamId: number | null;
  /** A stream of the remote has arrived whole. */
  accept(stream: StreamCore): void;
  /** A stream whose open never left waits for the next socket. */
  requeue(stream: StreamCore): void;
  /** The library has refused a stream of the remote: for a rule, for a limit, or because no handler took it. `label` names it in the log. */
  refused(code: ResetCode, reason: string, label?: string): void;
}

/** Optional parts of a reset. */
export interface ResetExtras {
  /** The decoded payload; default `null`, which means none. */
  readonly payload?: unknown;
  /** The encoded payload; default `null`, which sends none. */
  readonly encodedPayload?: Message | null;
  /** The error for the stream's user instead of the cause's plain error. */
  readonly error?: unknown;
}

const NO_EXTRAS: ResetExtras = {};
const NO_HEADERS: Readonly<Metadata> = Object.freeze({});

/** Codes of resets by the library without a fault of the remote: an unread upload, the streams left by a drain, and a caller's deadline. */
const WELL_MEANT: ReadonlySet<ResetCode> = new Set([ResetCode.NO_ERROR, ResetCode.CANCEL, ResetCode.DEADLINE_EXCEEDED]);

// Facts of a stream are bits of one number. A field for each would take eight bytes of every stream.
const LOCAL = 1;
const NOTIFICATION = 2;
const TAKEN = 4;
const BEGUN = 8;
const REPLIED = 16;
const COMPLETED_BY_REMOTE = 32;
const HAS_PLACE = 64;
// From here on, each bit holds the place.
const RESETTING = 128;
/** Counts the handlers at work, because several `respond` may work on one stream. No other bit lies above. */
const RUNNING = 256;

/**
 * One stream from its call to its end, whichever socket carries it. It is the Subject of its received payloads. Its state, its unsent frames,
 * its unread payloads, its cause and its deadline are in it; everything else keeps a reference to it. Most streams need few of these parts,
 * so each is made on first use.
 *
 * {@link next} takes the frames that `demultiplex` routes to the stream. A stream without a {@link carrier} has no id. A stream ends in three
 * steps:
 *
 * 1. The state moves to its last row. The connection forgets the stream, and frees its place of `maxStreams`, unless a handler or an unwritten
 *    reset holds it.
 * 2. The user learns the cause.
 * 3. The bytes are released, unless a handler still runs. Then the tasks run that waited on the stream.
 *
 * A reset by the remote drops the queued frames before the first step. So does a reset by this side that overtakes them.
 */
export class StreamCore extends Subject<unknown> implements Deadlined, Abortable, Unsubscribable {
  /** `null` while no socket has accepted the stream. */
  id: number | null = null;
  /** The connection whose socket has accepted the stream; `null` before. */
  carrier: Carrier | null = null;
  /** Where frames wait; `null` for a stream that ends before it is queued. */
  place: Place | null = null;
  /** The cause of the stream's end; `null` while the stream is live. It is set after the phase, once the closing frame was delivered. */
  cause: CloseCause | null = null;
  /** The headers of the open; empty if it had none. */
  headers: Readonly<Metadata>;
  replyHeaders: Readonly<Metadata> | null = null;
  trailers: Readonly<Metadata> | null = null;
  /** Receives everything from the first payload on. */
  reader: Reader | null = null;
  /** Frames and tasks that wait; made with the first, and dropped with the last. */
  sending: Sending | null = null;
  /** Made for the first payload that waits, and for a subscriber. */
  receiving: Receiving | null = null;
  /** Made by `extrasOf`. */
  extras: StreamExtras | null = null;
  #facts: number;
  #row: StreamRow;
  /** Weight of the open's payload, of headers and of trailers. The stream's user holds them as long as the stream lives. */
  #attachedBytes = 0;
  #facade: Stream | null = null;
  /** The error that came with the cause, or is created from the cause on access. */
  #failure: unknown = null;
  #deadline: Deadline | null = null;
  #signal: AbortSignal | null = null;

  /**
   * @param local whether this side opens the stream
   * @param isNotification a `notify`: no answer is expected
   * @param opening the headers of the open
   * @param payload the payload of the open; `ABSENT` if it had none
   */
  constructor(
    readonly owner: StreamOwner,
    local: boolean,
    isNotification: boolean,
    opening: Readonly<Metadata> | null,
    public payload: unknown,
  ) {
    super();
    this.headers = opening ?? NO_HEADERS;
    this.#facts = (local ? LOCAL | TAKEN | BEGUN : 0) | (isNotification ? NOTIFICATION : 0);
    this.#row = local ? TABLE.queued : TABLE.arriving;
  }

  // Its state

  /** Whether this side opened the stream. */
  get local(): boolean {
    return (this.#facts & LOCAL) !== 0;
  }

  /** Whether no answer is expected. */
  get isNotification(): boolean {
    return (this.#facts & NOTIFICATION) !== 0;
  }

  /** Whether a user has taken the stream. A stream of this side counts as taken. */
  get isTaken(): boolean {
    return (this.#facts & TAKEN) !== 0;
  }

  /** Whether this side's first frame, which carries headers, has left. */
  get begun(): boolean {
    return (this.#facts & BEGUN) !== 0;
  }

  /** Whether this side has sent a value or its end, besides the open. */
  get replied(): boolean {
    return (this.#facts & REPLIED) !== 0;
  }

  get phase(): StreamPhase {
    return this.#row.phase;
  }

  get hasClosed(): boolean {
    return this.#row.phase === 'closed';
  }

  /** Whether this side may send nothing more, because its end is queued, its connection closes, or the stream is closed. */
  get sealed(): boolean {
    return this.#row.leads.seal === undefined;
  }

  /** Whether this side opened the stream and no frame of it has ever left. */
  get unsent(): boolean {
    return this.#row.unsent === true;
  }

  /** Moves to the next state. Returns `false` and changes nothing if the input breaks the protocol. */
  advance(input: StreamInput): boolean {
    const next = this.#row.leads[input];
    if (next === undefined) return false;
    this.#row = TABLE[next];
    return true;
  }

  /** Returns whether the protocol allows an input in this state. */
  accepts(input: StreamInput): boolean {
    return this.#row.leads[input] !== undefined;
  }

  /** The user's Observable of this stream, created on access. */
  get facade(): Stream {
    return (this.#facade ??= Stream.around(this));
  }

  /** Names the stream and its peer in the log. */
  get label(): string {
    return `${this.owner.label}, stream ${this.id ?? 'without an id'}`;
  }

  // Sending

  /** Sends one frame under the stream's id; drops a frame after the end. */
  send(frame: OutgoingFrame): void {
    if (this.sealed) return;
    if (frame.end) this.advance('seal');
    frame.stream = this.id;
    this.place?.add(this, frame);
  }

  get ownSending(): Sending {
    return (this.sending ??= new Sending());
  }

  /** This side sends a frame of its own. */
  sends(isReply: boolean): void {
    this.#facts |= isReply ? BEGUN | REPLIED : BEGUN;
    this.markTaken();
  }

  /** A frame or slice of this stream is about to be written. Returns whether it ends the stream; if so, {@link release} follows. */
  leaving(slice: Frame): boolean {
    if (slice.type === 'open') this.advance('sendOpen');
    if (slice.end !== true) return false;
    // A notification awaits no answer.
    const closes = this.advance(this.isNotification ? 'close' : 'sendEnd') && this.hasClosed;
    if (closes) this.#leave();
    return closes;
  }

  // Receiving

  /** A socket has accepted the stream. A stream of the remote takes one of the places of `maxStreams`. */
  enter(carrier: Carrier, id: number): void {
    this.carrier = carrier;
    this.place = carrier.outbound;
    this.id = id;
    if (this.local) return;
    this.#facts |= HAS_PLACE;
    carrier.takePlace();
  }

  /** Receives each whole frame of the remote on this stream. */
  override next(value: StreamFrame | StreamFault): void {
    if (this.hasClosed) return;
    if (value instanceof StreamFault) this.resetForViolation(value.code, value.reason);
    else if (value.type === 'open') this.#opened(value);
    else if (value.type === 'reset') this.#resetByRemote(value);
    else this.#data(value);
  }

  /** Passes a payload to the subscribers. */
  multicast(payload: unknown): void {
    super.next(payload);
  }

  #opened(frame: FrameOf<'open'>): void {
    this.advance('recvOpen');
    if (frame.end) this.advance('recvEnd');
    const { payload, headers, trailers } = frame;
    const stays = headers === null && trailers === null ? payload : [payload, headers, trailers];
    try {
      if (stays !== ABSENT && !this.#attach(stays, true)) return;
      if (headers !== null) this.headers = Object.freeze(headers);
      this.payload = payload;
      if (frame.end) {
        this.trailers = trailers;
        this.#finish();
      }
      this.owner.accept(this);
    } catch (error) {
      this.broken(error);
    }
  }

  #data(frame: FrameOf<'data'>): void {
    const { headersDue } = this.#row;
    if (headersDue === true) {
      this.advance('recvData');
      if (isMarked(frame) && !isMarked(this)) {
        this.reset('library', ResetCode.PROTOCOL_ERROR, NO_HELLO);
        return;
      }
    } else if (frame.headers !== null) log('debug', `stream ${this.id}: ignored headers on a later frame`);
    const headers = headersDue === true ? frame.headers : null;
    const trailers = frame.end ? frame.trailers : null;
    const over = frame.end && this.advance('recvEnd') && this.hasClosed;
    if (over) this.#leave();
    try {
      if ((headers !== null || trailers !== null) && !over && !this.#attach([headers, trailers])) return;
      if (this.local && this.replyHeaders === null) this.#firstFrame(frame.headers);
      if (frame.end) this.trailers = trailers;
      if (frame.payload !== ABSENT) this.#deliver(frame.payload);
      // An end that closes the stream is delivered with its cause.
      if (frame.end && !this.hasClosed) this.#finish();
    } catch (error) {
      this.broken(error);
    }
    if (over) this.release();
  }

  #firstFrame(headers: Readonly<Metadata> | null): void {
    this.replyHeaders = headers === null ? NO_HEADERS : Object.freeze(headers);
    for (const { hook } of this.owner.hooks.incomingHeaders.entries) hook(this.replyHeaders, this.facade);
    this.extras?.headersArrived(this.replyHeaders);
  }

  #deliver(payload: unknown): void {
    if (this.isOver) return;
    const { receiving, reader } = this;
    if (receiving === null && reader !== null) reader.next(payload);
    else this.ownReceiving.next(payload);
  }

  get ownReceiving(): Receiving {
    return (this.receiving ??= new Receiving(this));
  }

  /** The remote has ended. This side may go on. */
  #finish(): void {
    this.#facts |= COMPLETED_BY_REMOTE;
    this.#deliverEnd();
  }

  /** Later subscribers get the end when they come. rxjs would stop at the first subscriber whose teardown throws. */
  #deliverEnd(): void {
    const { reader } = this;
    // It may hold the last payload, and an idle connection holds its last stream.
    this.reader = null;
    if (reader !== null) this.passEnd(reader);
    if (this.observed) for (const subscriber of takeObservers(this)) this.passEnd(subscriber);
  }

  /**
   * Counts the parts of a frame that stay with the stream. Over the limit it resets the stream and returns `false`.
   *
   * @param areAll whether no other part was received. A codec that cannot weigh counts the others too
   */
  #attach(parts: unknown, areAll = false): boolean {
    const { codec, budget, arrivedBytes } = this.connection;
    const bytes = weightOf(codec, parts, areAll || codec.weigh === undefined ? arrivedBytes : 0);
    const excess = budget.attach(bytes);
    if (excess === null) this.#attachedBytes += bytes;
    else this.exceed(excess);
    return excess === null;
  }

  /** A payload exceeds a limit. */
  exceed({ code, reason }: Excess): void {
    this.reset('library', code, this.connection.noted(reason));
  }

  // Its readers

  /** Whether the stream has a reader or a subscriber. */
  get hasReader(): boolean {
    return this.reader !== null || this.receiving?.isRead === true;
  }

  /** Whether no payload follows. */
  get isOver(): boolean {
    return (this.#facts & COMPLETED_BY_REMOTE) !== 0 || this.cause !== null;
  }

  /** Delivers the end, if no payload follows. */
  passEnd(reader: Pick<Reader, 'error' | 'complete'>): void {
    if (this.isOver) deliverEnd(reader, (this.#facts & COMPLETED_BY_REMOTE) !== 0 ? null : this.failure);
  }

  /**
   * Passes every payload from the first on to `reader`. Returns this object as the reader's subscription, which saves one object for each
   * stream.
   */
  readBy(reader: Reader): Unsubscribable {
    this.markTaken();
    this.reader = reader;
    // Payloads may already wait, because `onOpen` runs before the call reads.
    if (this.receiving === null) this.passEnd(reader);
    else this.receiving.pass(reader);
    return this;
  }

  /** The reader leaves. Without a subscriber, it was the last one. */
  override unsubscribe(): void {
    this.reader = null;
    if (this.receiving !== null) this.receiving.checkLeft();
    else if (!this.isOver) this.lastReaderLeft();
  }

  /** Passes waiting and later payloads to a subscriber of the {@link facade}. */
  passTo(subscriber: Subscriber<unknown>): TeardownLogic {
    this.markTaken();
    return this.ownReceiving.passTo(subscriber);
  }

  /** The last reader has left before the end. */
  lastReaderLeft(): void {
    if (this.local) this.cancel();
  }

  /** A reader has come, or this side sends, so the stream is in use. */
  markTaken(): void {
    if (this.isTaken) return;
    this.#facts |= TAKEN;
    this.connection.dispatched(Number(this.id));
  }

  /** A handler of a remote stream has started. The stream keeps its place until the handler has settled, whatever the remote does. */
  handlerStarted(): void {
    if (this.local) return;
    this.#facts += RUNNING;
    this.connection.dispatched(Number(this.id));
  }

  /** The handler has settled. */
  handlerSettled(): void {
    if (this.#facts < RUNNING) return;
    this.#facts -= RUNNING;
    this.#checkPlace();
    if (this.hasClosed) this.#releaseBytes();
  }

  // Its end

  /** The error that ended the stream; `null` while it is live, or if it ended without one. */
  get failure(): unknown {
    return (this.#failure ??= this.cause === null ? null : causeError(this.cause, this.id, this.unsent));
  }

  /** Resets the stream if it takes longer than `timeoutMs`. 0 and `Infinity` mean no limit. */
  limit(timeoutMs: number): void {
    if (this.cause !== null) return;
    this.#deadline = this.owner.deadlines.add(this, timeoutMs);
  }

  expire(timeoutMs: number): void {
    const error = deadlineError(timeoutMs, this);
    this.reset('library', ResetCode.DEADLINE_EXCEEDED, `not done within ${timeoutMs} ms`, { error });
  }

  /** Cancels the stream when `signal` aborts. */
  cancelWith(signal: AbortSignal): void {
    if (signal.aborted) this.aborted(signal.reason);
    if (this.cause !== null) return;
    this.#signal = signal;
    this.owner.signals.add(signal, this);
  }

  aborted(reason: unknown): void {
    this.cancel('aborted', new CancelledError('aborted', { streamId: this.id, cause: reason }));
  }

  /** Resets the stream with CANCEL, because this side wants nothing more of it. Consumers see `error`, by default the cause's error. */
  cancel(reason = 'unsubscribed', error?: StreamError): void {
    this.reset('user', ResetCode.CANCEL, reason, error === undefined ? NO_EXTRAS : { error });
  }

  /** Ends the stream with a reset of this side; does nothing on a closed stream. The remote hears it if it knows the stream. */
  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, extras: ResetExtras = NO_EXTRAS): void {
    if (this.hasClosed) return;
    const { payload = null, encodedPayload = null, error } = extras;
    const cause: CloseCause = { how: 'reset', by, code, reason, payload };
    const { carrier, unsent } = this;
    if (carrier === null) {
      this.fail(cause, error);
      return;
    }
    if (by === 'library' && !this.local && code !== null && !WELL_MEANT.has(code)) this.owner.refused(code, reason);
    this.#facts |= RESETTING;
    this.advance('sendReset');
    this.#leave();
    // The reset may leave at once and make room. Senders that wait for room must see the cause first.
    const tasks = takeTasks(this);
    // If an open is dropped that never left, the remote does not know the stream.
    if (unsent && overtakes(code)) {
      carrier.outbound.remove(this);
      this.sending = null;
    } else carrier.reset(this, code, reason, payload, encodedPayload);
    this.release(cause, error, tasks);
  }

  /** Whether a reset of this side is unwritten. */
  get isResetting(): boolean {
    return (this.#facts & RESETTING) !== 0;
  }

  /** The reset of this side was written, or never will be. */
  resetWritten(): void {
    if ((this.#facts & RESETTING) === 0) return;
    this.#facts &= ~RESETTING;
    this.#checkPlace();
  }

  /** Resets the stream because the remote broke a rule on it. */
  resetForViolation(code: ResetCode, reason: string): void {
    const { flood } = this.connection;
    this.exceed({ code, reason });
    flood.countProvokedReset(code);
  }

  /** The owner refuses a stream that the remote has opened. */
  refuse(reason: string): void {
    const { connection } = this;
    this.reset('library', ResetCode.REFUSED, reason);
    // An error of the owner ends only the stream. A flood must end the connection, so catch its fault here.
    try {
      connection.flood.countJunk(`an open of stream ${this.id}: ${reason}`);
    } catch (fault) {
      connection.fail(fault);
    }
  }

  #resetByRemote({ code, reason, payload }: FrameOf<'reset'>): void {
    const { flood, outbound } = this.connection;
    if (this.#facts >= RUNNING) flood.countEarlyReset();
    outbound.remove(this);
    this.sending?.drop();
    this.advance('recvReset');
    // The remote may keep the same deadline, and the timer of a hidden page is late.
    const late = code === ResetCode.DEADLINE_EXCEEDED ? this.#deadline : null;
    const error = late !== null && late.at <= steadyNow() ? deadlineError(late.queue.timeoutMs, this) : undefined;
    this.#leave();
    this.release({ how: 'reset', by: 'remote', code, reason: reason ?? '', payload: payload === ABSENT ? null : payload }, error);
  }

  /** The code of a user has thrown. The error ends only this stream. */
  broken(error: unknown): void {
    log('error', `stream ${this.id}: internal error`, error);
    this.reset('library', ResetCode.INTERNAL_ERROR, 'internal error');
  }

  /** Ends a stream that no socket has accepted. */
  fail(cause: CloseCause, error?: unknown): void {
    if (this.hasClosed) return;
    this.advance('close');
    this.place?.remove(this);
    this.place = null;
    const tasks = takeTasks(this);
    this.sending = null;
    this.#gone(cause, error);
    runAll(tasks);
  }

  /** The socket takes no more frames. An unsent stream waits for the next socket, if one will come. Any other stream ends. */
  lose(cause: CloseCause): void {
    if (this.hasClosed) return;
    this.connection.outbound.remove(this);
    if (this.unsent && this.#waitsAgain()) return;
    const tasks = takeTasks(this);
    this.sending = null;
    this.advance('close');
    this.#leave();
    this.release(cause, undefined, tasks);
  }

  /** Takes the stream from its socket, with its frames and tasks. Returns `false` if no other socket will come. A hello belongs to its socket. */
  #waitsAgain(): boolean {
    if (!this.owner.expectsSocket || isMarked(this)) return false;
    const { connection, owner, sending } = this;
    connection.forget(this);
    this.#row = sending?.isEnding === true ? TABLE.queuedSealed : TABLE.queued;
    this.carrier = null;
    owner.requeue(this);
    // The next socket counts it again.
    owner.tally.opened--;
    connection.released(this);
    this.id = null;
    return true;
  }

  /** Takes the stream out of its connection, before its user sees the end. */
  #leave(): void {
    this.receiving?.unblock();
    this.#checkPlace();
    this.connection.forget(this);
  }

  /** Passes its end to the user of a closed stream, and releases the rest. Then runs `tasks`, and what waits for the end of the stream. */
  release(cause: CloseCause = this.receiving?.overrun ?? ENDED, error?: unknown, tasks: readonly (() => void)[] = []): void {
    this.owner.tally.ended(cause);
    this.#gone(cause, error);
    this.#releaseBytes();
    runAll(tasks);
    this.connection.released(this);
  }

  #gone(cause: CloseCause, error: unknown): void {
    this.cause = cause;
    this.#failure = error;
    if (this.#deadline !== null) this.owner.deadlines.cancel(this.#deadline);
    this.#deadline = null;
    if (this.#signal !== null) this.owner.signals.remove(this.#signal, this);
    if ((this.#facts & COMPLETED_BY_REMOTE) === 0) this.#deliverEnd();
    this.extras?.gone(cause);
  }

  /** The stream has ended. Releases its bytes, unless a handler still runs. */
  #releaseBytes(): void {
    if (this.#facts >= RUNNING) return;
    this.receiving?.release();
    if (this.#attachedBytes > 0) this.connection.budget.attached.release(this.#attachedBytes);
    this.#attachedBytes = 0;
  }

  #checkPlace(): void {
    if (this.#facts < HAS_PLACE || this.#facts >= RESETTING || !this.hasClosed) return;
    this.#facts &= ~HAS_PLACE;
    this.connection.releasePlace();
  }

  /** The connection of a stream that a socket has accepted. */
  get connection(): Carrier {
    if (this.carrier === null) throw new TypeError('expected a stream that a socket has accepted, got one that waits');
    return this.carrier;
  }
}

/** Removes and returns the observers of a Subject. */
function takeObservers({ observers }: { readonly observers: Reader[] }): Reader[] {
  return observers.splice(0);
}

/** Returns the error of a call that missed its deadline. For an unsent call the error names the cause, and a retry is safe. */
function deadlineError(timeoutMs: number, { id, unsent, owner }: StreamCore): DeadlineExceededError {
  if (!unsent) return new DeadlineExceededError(timeoutMs, { streamId: id });
  if (id !== null) return new DeadlineExceededError(timeoutMs, { streamId: id, unsent: 'the connection took nothing more' });
  const { reason, error } = owner.absence;
  return new DeadlineExceededError(timeoutMs, { unsent: reason, ...(error === null ? {} : { cause: error }) });
}
