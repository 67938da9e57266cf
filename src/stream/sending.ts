import type { EncodedPayload } from './payload.js';
import { encodedPayload } from './payload.js';
import type { Session, Share } from '../connection/connection.js';
import type { Backlog, Bulk, Scheduler } from '../connection/outbound.js';
import { log } from '../logger.js';
import type { OpenQueue } from '../peer/waiting.js';
import { guard } from '../rx/subscribers.js';
import type { NamesOf } from '../util/check.js';
import { Fifo, LazyMap } from '../util/collections.js';
import { checkedMessage, isPlain } from '../wire/codec.js';
import type { Message } from '../wire/codec.js';
import { CancelledError, QueueOverflowError, aboutStream, violation } from '../wire/errors.js';
import { checkFragmentable, fits } from '../wire/fragment.js';
import type { Slicer } from '../wire/fragment.js';
import { ABSENT } from '../wire/frame.js';
import type { Frame, Metadata, MetadataInput } from '../wire/frame.js';
import type { Limits } from '../wire/limits.js';
import { OutgoingFrame, encodedPartOf, isSmall } from '../wire/outgoing.js';
import { chargeOf, chargeOfPart } from '../wire/reassembly.js';
import { endedHere, report } from './end.js';
import { copyMetadata, freezeMetadata } from './metadata.js';
import { rejected, unheeded } from './promises.js';
import type { LiveStream, StreamCore, StreamHost, WaitingFrames } from './stream-core.js';
import { extrasOf } from './extras.js';

/** Returns a frame's slices, or `null` if the frame fits one message. */
export type Cut = (frame: OutgoingFrame) => Slicer | null;

interface Waiting {
  readonly frame: OutgoingFrame;
  /** Bytes of the frame that have not left. */
  bytes: number;
}

/** One stream's unsent frames. Some slices of the front frame may already have left. */
export class StreamQueue {
  readonly #waiting = new Fifo<Waiting>();
  /** The slices of the front frame that have not left; `null` for a frame that is not cut. */
  #slices: Slicer | null = null;
  #bytes = 0;

  /** Unsent bytes of payload. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many frames have not left whole. */
  get frames(): number {
    return this.#waiting.length;
  }

  /** Whether the front frame is an open of which no slice has left. */
  get unopened(): boolean {
    return this.#slices?.inProgress !== true && this.front.type === 'open';
  }

  /**
   * The front frame, which leaves next or has left in part.
   *
   * @throws TypeError if the queue is empty
   */
  get front(): OutgoingFrame {
    return this.#front().frame;
  }

  /** Adds a frame. Returns the bytes that the frame counts for. */
  append(frame: OutgoingFrame): number {
    const bytes = chargeOfPart(encodedPartOf(frame));
    this.#waiting.push({ frame, bytes });
    this.#bytes += bytes;
    return bytes;
  }

  /**
   * Takes the next whole frame, or the next slice of a frame.
   *
   * @throws errors of the codec; ProtocolError for a frame that cannot be cut; TypeError if the queue is empty
   */
  take(cut: Cut): Frame {
    const front = this.#front();
    const { frame } = front;
    this.#slices ??= cut(frame);
    const slice = this.#slices === null ? frame : this.#slices.next();
    if (this.#slices === null || this.#slices.done) {
      this.#charge(front, front.bytes);
      this.#slices = null;
      this.#waiting.shift();
    } else this.#charge(front, Math.min(front.bytes, chargeOfSlice(slice)));
    return slice;
  }

  /** Takes all frames. Returns a partly sent frame whole. */
  takeAll(): OutgoingFrame[] {
    const frames: OutgoingFrame[] = [];
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) frames.push(next.frame);
    return frames;
  }

  #front(): Waiting {
    const front = this.#waiting.peek();
    if (front === undefined) throw new TypeError('expected a frame to be queued, got a queue that is empty');
    return front;
  }

  #charge(front: Waiting, bytes: number): void {
    front.bytes -= bytes;
    this.#bytes -= bytes;
  }
}

/** Returns the charge of a slice. A plain slice has as many bytes as units, and needs no measuring. */
function chargeOfSlice(slice: Frame): number {
  const part = encodedPartOf(slice);
  return typeof part === 'string' && isPlain(slice) ? chargeOf(part.length) : chargeOfPart(part);
}

/** Waiting tasks by stream, in the order in which the streams came. */
export class Waiters extends LazyMap<number, (() => void)[]> {
  add(stream: number, task: () => void): void {
    const tasks = this.get(stream);
    if (tasks === undefined) this.set(stream, [task]);
    else tasks.push(task);
  }

  /** Removes and returns the tasks of one stream. */
  take(stream: number): readonly (() => void)[] {
    const tasks = this.get(stream) ?? [];
    this.delete(stream);
    return tasks;
  }

  /** Runs and removes the tasks of one stream. */
  run(stream: number): void {
    runAll(this.take(stream));
  }
}

/** Runs tasks in their order. */
export function runAll(tasks: readonly (() => void)[]): void {
  for (const task of tasks) task();
}

/** A stream with a queue below so many bytes accepts more without waiting. */
export const STREAM_ROOM_BYTES = 256 * 1024;
/** Even at the limit, a stream with an empty queue may add so many bytes: it did not ignore back-pressure. */
export const SPARED_BYTES = 16 * 1024;

/** The queues of a connection, as their room sees them. */
export interface Queued {
  readonly limits: Limits;
  readonly share: Share | null;
  /** Queued bytes of payload of all streams. */
  readonly bytes: number;
  /** The non-empty queues by stream. */
  readonly queues: { get(stream: number): { readonly bytes: number } | undefined };
}

/** Returns the room of a backlog, made on first use. */
export function roomIn(backlog: Backlog): Room {
  return (backlog.room ??= new Room(backlog));
}

/**
 * Knows which streams may add more: those with less than 256 KiB queued, while all queues together are below `sendHighWaterBytes`. Keeps the
 * tasks that wait for that.
 */
export class Room extends Waiters {
  /** All queues together are short enough below so many bytes. */
  readonly #highWater: number;
  /** Whether all queues together have become short enough since {@link relieve} last ran. */
  #relieved = false;

  constructor(private readonly queued: Queued) {
    super();
    const { sendHighWaterBytes, maxUnsentBytes } = queued.limits;
    this.#highWater = Math.min(sendHighWaterBytes, maxUnsentBytes);
  }

  /** Returns whether `stream` may add more without growing a long queue. */
  hasRoom(stream: number): boolean {
    const { share, queues, bytes } = this.queued;
    if (share?.mustWait() === true) return false;
    const queue = queues.get(stream);
    return (queue === undefined || queue.bytes < STREAM_ROOM_BYTES) && bytes < this.#highWater;
  }

  /**
   * Returns whether a stream must fail if it adds so many bytes without waiting for room. That is so once all queues together hold
   * `maxUnsentBytes`. A stream with an empty queue did not fill them, so it may still add up to {@link SPARED_BYTES}. Even this exception ends
   * once they hold `sendHighWaterBytes` more.
   */
  overflowsWith(stream: number, bytes: number): boolean {
    const { share, queues, bytes: queued, limits } = this.queued;
    const { maxUnsentBytes, sendHighWaterBytes } = limits;
    if (share?.overflowsWith(bytes) === true) return true;
    if (queued < maxUnsentBytes) return false;
    return bytes > SPARED_BYTES || queues.get(stream) !== undefined || queued >= maxUnsentBytes + sendHighWaterBytes;
  }

  /** Runs the tasks that wait on `stream`, if it has room. */
  wake(stream: number): void {
    if (this.size > 0 && this.hasRoom(stream)) this.run(stream);
  }

  /** So many bytes have left the queues. */
  freed(bytes: number): void {
    const left = this.queued.bytes;
    if (left < this.#highWater && left + bytes >= this.#highWater) this.#relieved = true;
  }

  /** Other connections have made room. The waiting tasks run at the next {@link relieve}. */
  madeElsewhere(): void {
    this.#relieved = true;
  }

  /** Runs the tasks that waited for all queues together, once the queues have become short enough. */
  relieve(): void {
    if (!this.#relieved) return;
    this.#relieved = false;
    for (const stream of [...this.keys()]) this.wake(stream);
  }
}

/** The parts of a scheduler that its pulls use. */
export interface PullHost {
  readonly backlog: Backlog;
  /** How many frames the scheduler has accepted so far. */
  readonly accepted: number;
  /** Whether a pulled frame leaves at once, within this turn's share of the event loop. */
  readonly hasTurn: boolean;
  readonly bulk: Pick<Bulk, 'holds'>;
  /** Writes queued frames while the pace allows, then pulls more. */
  pump(): void;
}

/**
 * The most streams in a row that {@link Pulls.many} asks without an answer. An async source answers some microtasks later, and is then asked
 * again. Few such sources use up the share of a turn. The values of more sources would have to wait for the next turn.
 */
const MOST_UNANSWERED = 16;

/** Returns the pulls of a scheduler, made on first use. */
export function pullsOf(scheduler: Scheduler): Pulls {
  return (scheduler.backlog.pulls ??= new Pulls(scheduler));
}

/** Asks streams that wait until the socket takes more for their next frame. Waiting streams take turns. */
export class Pulls extends Waiters {
  /** The stream that was pulled last; -1, which is no stream, at first. */
  pulled = -1;
  #isPulling = false;
  /** A pulled stream may send exactly one frame now, until the scheduler has accepted one more than this; `null` for none. */
  #grantedAt: number | null = null;

  constructor(private readonly host: PullHost) {
    super();
  }

  /** Whether any stream waits, and may be pulled. */
  get any(): boolean {
    return this.size > 0 && this.host.backlog.share?.mustWait() !== true;
  }

  /** Whether {@link many} runs. */
  get isPulling(): boolean {
    return this.#isPulling;
  }

  /** Returns whether to pull a frame from a stream now. The frame leaves at once within this turn's share, or the stream has its turn. */
  hasDemand(stream: number): boolean {
    const { host } = this;
    if (this.#grantedAt !== host.accepted && (!host.hasTurn || host.bulk.holds(stream))) return false;
    this.pulled = stream;
    return true;
  }

  /** Runs `task` once {@link hasDemand} holds. Waiting streams take turns. */
  whenDemand(stream: number, task: () => void): void {
    this.add(stream, task);
    this.host.pump();
  }

  /** Pulls after a queued frame has left, so pulled streams and queues take turns. A stream is pulled again after its last frame has left. */
  after(stream: number): void {
    if (this.any) this.#granting(() => (this.#mayPull(stream) ? this.run(stream) : this.#next()));
  }

  /** Pulls one frame ahead of the queues. Returns `false` if no stream may send. */
  one(): boolean {
    return this.#granting(() => this.#next());
  }

  /** Pulls streams while there is a turn, and until enough of them have not answered at once. Returns `false` once no stream may send. */
  many(): boolean {
    const { host } = this;
    let unanswered = 0;
    let isAnyAsked = true;
    this.#isPulling = true;
    try {
      while (isAnyAsked && unanswered < MOST_UNANSWERED && host.hasTurn) {
        const { accepted } = host;
        isAnyAsked = this.#next();
        unanswered = host.accepted === accepted ? unanswered + 1 : 0;
      }
    } finally {
      this.#isPulling = false;
    }
    return isAnyAsked;
  }

  /** Pulls the stream that has waited longest, of those whose frame may leave. Returns `false` if there is none. */
  #next(): boolean {
    if (this.any)
      for (const stream of this.keys()) {
        if (!this.#mayPull(stream)) continue;
        this.run(stream);
        return true;
      }
    return false;
  }

  #mayPull(stream: number): boolean {
    const { host } = this;
    return !host.backlog.queues.has(stream) && !host.bulk.holds(stream);
  }

  #granting<T>(ask: () => T): T {
    this.#grantedAt = this.host.accepted;
    try {
      return ask();
    } finally {
      this.#grantedAt = null;
    }
  }
}

/** The number of frames of a stream that has sent only its open. */
const OPEN_ALONE = 1;

/** The frames of one stream in a queue of streams that wait for a socket. */
export class QueuedFrames implements WaitingFrames {
  readonly #frames: OutgoingFrame[] = [];
  readonly #tasks: (() => void)[] = [];
  #bytes = 0;

  constructor(
    private queue: OpenQueue,
    readonly stream: LiveStream,
  ) {}

  get hasRoom(): boolean {
    return this.#bytes < STREAM_ROOM_BYTES && !this.queue.full;
  }

  overflowsWith(bytes: number): boolean {
    return this.queue.full && (bytes > SPARED_BYTES || this.#frames.length > OPEN_ALONE || this.queue.bytes >= 2 * this.queue.limit);
  }

  addTask(task: () => void): void {
    this.#tasks.push(task);
  }

  /** The queue has room again. */
  roomFreed(): void {
    if (this.hasRoom) runAll(this.#tasks.splice(0));
  }

  add(frame: OutgoingFrame): void {
    this.#frames.push(frame);
    const bytes = chargeOfPart(OutgoingFrame.encodedPayload(frame));
    this.#bytes += bytes;
    this.queue.charge(bytes);
  }

  leave(): readonly (() => void)[] {
    this.queue.release(this, this.#bytes);
    this.#frames.length = 0;
    return this.#tasks.splice(0);
  }

  /** Moves the stream to a session before its first frame leaves: hooks may send on the stream then, and the answer may come. */
  flushTo(session: Session): void {
    const { stream } = this;
    session.adopt(stream);
    session.scheduler.batch(() => {
      stream.restart();
      for (const frame of this.#frames) stream.send(frame);
      this.queue.release(this, this.#bytes);
    });
    runAll(this.#tasks.splice(0));
  }

  /** Moves to another queue. */
  moveTo(queue: OpenQueue): void {
    this.queue.release(this, this.#bytes);
    this.queue = queue;
    queue.take(this, this.#bytes);
  }
}

// A closed stream always has room and demand, so that no task waits on it. So does one whose end waits for a socket.

/** Whether a stream can send more without growing a long queue. */
export function hasRoom(stream: LiveStream): boolean {
  const { session, waiting } = stream;
  if (waiting !== null) return stream.sealed || waiting.hasRoom;
  return stream.closed || (session !== null && roomIn(session.scheduler.backlog).hasRoom(Number(stream.id)));
}

/** Runs `task` once there is room, or once the stream has ended. */
export function whenRoom(stream: LiveStream, task: () => void): void {
  const { session, waiting } = stream;
  if (hasRoom(stream)) {
    task();
    return;
  }
  // After the wait the stream may be on another socket.
  const again = (): void => {
    whenRoom(stream, task);
  };
  if (waiting !== null) waiting.addTask(again);
  else if (session !== null) roomIn(session.scheduler.backlog).add(Number(stream.id), again);
}

/** Whether a frame sent now leaves at once, so that it is time to pull the next value. The frames of a waiting stream never do. */
export function hasDemand(stream: LiveStream): boolean {
  const { session, waiting } = stream;
  if (waiting !== null) return stream.sealed;
  return stream.closed || (session !== null && pullsOf(session.scheduler).hasDemand(Number(stream.id)));
}

/** Runs `task` once a frame would leave at once, or once the stream has ended. */
export function whenDemand(stream: LiveStream, task: () => void): void {
  const { session, waiting } = stream;
  if (stream.closed || (waiting !== null && stream.sealed)) task();
  else if (waiting !== null) waiting.addTask(task);
  else if (session !== null) pullsOf(session.scheduler).whenDemand(Number(stream.id), task);
}

/** Returns whether the queues of all streams are so full that a value of `bytes` must fail if it did not wait for room. */
export function overflowsWith(stream: LiveStream, bytes: number): boolean {
  const { session, waiting } = stream;
  if (waiting !== null) return waiting.overflowsWith(bytes);
  return session !== null && roomIn(session.scheduler.backlog).overflowsWith(Number(stream.id), bytes);
}

/** The parts of a host that decide whether a frame can be sent. */
export type SendHost = Pick<StreamHost, 'codec' | 'options' | 'nextStreamId'>;

/**
 * Returns a frame to send, whose fields hold the value of the payload. The id is `null` before the stream has one.
 *
 * @throws ProtocolError if no cut can make the frame fit, because its headers or trailers are too big
 */
export function sendable(host: SendHost, frame: Frame, { source, encoded }: EncodedPayload, id: number | null): OutgoingFrame {
  return new OutgoingFrame(frame, encoded, host.codec, source, checkSendable(host, frame, encoded, id));
}

/** Returns whether a frame surely fits one message, under any id. */
function checkSendable(host: SendHost, frame: Frame, encodedPayload: Message | null, id: number | null): boolean {
  const { codec, options } = host;
  const { maxFrameBytes } = options;
  if (isSmall(frame, encodedPayload, maxFrameBytes, codec)) return true;
  // Measure with the stream's future id, or with the longest id if no session knows it. Errors do not name it.
  const numbered = { ...frame, stream: id ?? host.nextStreamId ?? Number.MAX_SAFE_INTEGER };
  if (!fits(numbered, encodedPayload, maxFrameBytes, codec)) checkFragmentable(numbered, encodedPayload, maxFrameBytes, codec, id);
  return false;
}

/**
 * Encodes the payload of a reset. Returns `null` if there is no payload, or, with a warning, if it cannot be sent. An error's name and
 * message are sent all the same.
 */
export function resetPayload(host: SendHost, payload: unknown, id: number | null): Message | null {
  if (payload === undefined || payload === null) return null;
  try {
    const encoded = checkedMessage(host.codec, host.codec.encodePayload(payload));
    checkSendable(host, { type: 'reset', payload }, encoded, id);
    return encoded;
  } catch (error) {
    const rest = nameAndMessage(payload);
    const goes = rest === null ? 'without it' : 'with its name and message alone';
    log('warn', aboutStream(id, `the payload of a reset cannot be sent, and the reset goes ${goes}`), error);
    return resetPayload(host, rest, id);
  }
}

/** Returns the name, the message and the mark of an error's payload that has more; `null` for every other payload. */
function nameAndMessage(payload: unknown): object | null {
  try {
    const { name, message, declared, ...more } = payload as Readonly<Record<string, unknown>>;
    if (typeof name !== 'string' || typeof message !== 'string' || Object.keys(more).length === 0) return null;
    return declared === true ? { name, message, declared } : { name, message };
  } catch {
    // A getter has thrown.
    return null;
  }
}

/** Trailers, or a function that returns them. The stream calls the function when it sends its end. */
export type TrailersInput = MetadataInput | (() => MetadataInput | null);

const LATE_VALUE = 'a value was sent after the end and is lost';
const LATE_ANSWER = `${LATE_VALUE}; to answer later than the handler settles, return a promise from it or use respond()`;
const READY: Promise<void> = Promise.resolve();
/** The advice for each way to send. */
const TOO_MUCH =
  'too much is queued (maxUnsentBytes): await send(), set the option overflow of an input that pushes, or send an input that is pulled';

/** Returns the sending side of a stream, made on first use. */
export function outboxOf(stream: StreamCore): Outbox {
  return (stream.outbox ??= new Outbox(stream));
}

/** The sending side of one stream: its headers, values and trailers, and the senders that wait for room. */
export class Outbox {
  /** Whether this side's first frame, which carries headers, has left. */
  begun: boolean;
  /** Whether the outbox has accepted a value or this side's end. */
  replied = false;
  /**
   * State of the reply-headers interceptors. `done`: they ran in a `sendHeaders` that had nothing to send. They do not run again for a value
   * without headers.
   */
  #interceptors: 'due' | 'running' | 'done' | 'failed' = 'due';
  #trailers: TrailersInput | null = null;

  constructor(private readonly stream: StreamCore) {
    this.begun = stream.local;
  }

  setTrailers(trailers: TrailersInput): void {
    this.#trailers = trailers;
  }

  /** @throws errors of an interceptor or the codec */
  sendHeaders(headers?: MetadataInput): void {
    if (this.begun || this.refusal() !== null) return;
    const first = this.#firstHeaders(headers);
    this.#interceptors = 'done';
    if (first !== null) this.#transmit({ type: 'data', headers: first }, encodedPayload(this.stream.host.codec, ABSENT));
  }

  /** Sends the interceptors' headers ahead of a reset, if the interceptors have not run. Logs an interceptor's error. */
  sendHeadersOfFailure(): void {
    if (this.#interceptors === 'due')
      guard('a reply-headers interceptor', () => {
        this.sendHeaders();
      });
  }

  /** {@link accept} as a promise. Resolves once the stream's queue is short, or rejects with the error that ended the stream. */
  send(value: unknown, headers?: MetadataInput): Promise<void> {
    return this.#readyUnless(this.accept(value, headers));
  }

  /** {@link acceptLast} as a promise, like {@link send}. */
  sendLast(value?: unknown, headers?: MetadataInput, trailers?: TrailersInput): Promise<void> {
    return this.#readyUnless(this.acceptLast(value, headers, trailers));
  }

  /**
   * Queues a value. Returns `null`, or the error of a refused value.
   *
   * @throws TypeError for headers after this side's first frame; errors of the codec or an interceptor
   */
  accept(value: unknown, headers?: MetadataInput): unknown {
    return this.#accept(value, headers, false);
  }

  /**
   * Queues the end, with or without a last value. Returns `null`, or the error of a refused end.
   *
   * @throws the same as {@link accept}, and errors of the trailers
   */
  acceptLast(value?: unknown, headers?: MetadataInput, trailers?: TrailersInput): unknown {
    return this.#accept(value, headers, true, trailers);
  }

  #accept(value: unknown, headers: MetadataInput | undefined, end: boolean, trailers?: TrailersInput): unknown {
    const early = this.refusal();
    if (early !== null) return early;
    const payload = encodedPayload(this.stream.host.codec, value);
    const overflow = this.#overflow(payload);
    if (overflow !== null) return overflow;
    const last = end ? this.#asMetadata(trailers ?? this.#trailers) : null;
    const frame = { type: 'data', payload: payload.value, headers: this.#firstHeaders(headers), end, trailers: last };
    // Code in the value, in the metadata or in interceptors may have ended the stream.
    const late = this.refusal();
    if (late !== null) return late;
    this.#transmit(frame, payload);
    return null;
  }

  #readyUnless(refusal: unknown): Promise<void> {
    const { stream } = this;
    if (refusal !== null) return rejected(refusal);
    if (hasRoom(stream)) return READY;
    const room = new Promise<void>((resolve) => {
      whenRoom(stream, resolve);
    });
    return unheeded<void>((resolve, fail) => {
      // A reset frees the queue too; `stream.error` is set one microtask later.
      void room.then(() => {
        if (stream.error === null) resolve();
        else fail(stream.error);
      });
    });
  }

  /** Returns the error of an attempt to send now, or `null` if the stream may send. */
  refusal(): unknown {
    const { stream } = this;
    if (!stream.sealed) return null;
    const streamId = stream.id;
    const { cause, error } = stream;
    if (error !== null && !endedHere(cause)) return error;
    const { now } = stream.host.status;
    if (now.state === 'draining' && now.by === 'local') return new CancelledError('the peer is closing', { streamId });
    if (extrasOf(stream).takeWarning()) {
      log('warn', aboutStream(streamId, stream.local ? LATE_VALUE : LATE_ANSWER));
    }
    return violation(streamId, 'expected nothing to be sent after the end');
  }

  #overflow({ encoded }: EncodedPayload): Error | null {
    // A bare end takes no room. An overflow must not destroy the answer before it.
    if (encoded === null) return null;
    const { stream } = this;
    const { id, unsent } = stream;
    // The common case measures nothing.
    if (!overflowsWith(stream, Infinity) || !overflowsWith(stream, chargeOfPart(encoded))) return null;
    const error = new QueueOverflowError(TOO_MUCH, { streamId: id, retriable: unsent });
    stream.cancel('the sender overflowed its queue', error);
    // Report the error: a queue overflows when callers ignore the promise of `send`.
    if (!stream.local) report(error, stream);
    return error;
  }

  #transmit(fields: Frame, payload: EncodedPayload): void {
    const { stream } = this;
    const frame = sendable(stream.host, fields, payload, stream.id);
    this.begun = true;
    if (payload.encoded !== null || frame.end) this.replied = true;
    stream.markTaken();
    stream.send(frame);
  }

  /** Returns the headers of this side's first frame; `null` after that frame, or for no headers. */
  #firstHeaders(headers: MetadataInput | undefined): Readonly<Metadata> | null {
    if (this.begun && headers === undefined) return null;
    const { host, local } = this.stream;
    if (headers === undefined && (host.hooks.replyHeaders.entries.length === 0 || this.#interceptors === 'done')) return null;
    const copy = copyMetadata(headers);
    if (!this.begun && host.hooks.replyHeaders.entries.length > 0) this.#intercept(copy);
    const first = this.begun ? null : freezeMetadata(copy, host.codec);
    // A header value may itself send the first frame while it is encoded.
    if (!this.begun) return first;
    if (Object.keys(copy).length > 0)
      throw new TypeError(`expected headers with the ${local ? 'open' : 'first frame'} only, got some after it`);
    return null;
  }

  /** Calls the interceptors, which may change the headers of the first frame. */
  #intercept(headers: Metadata): void {
    if (this.#interceptors === 'running')
      throw new TypeError(
        'expected a reply-headers interceptor to send nothing on its stream, whose first frame it is asked about, got a send',
      );
    const before = this.#interceptors;
    this.#interceptors = 'running';
    try {
      for (const { hook } of this.stream.host.hooks.replyHeaders.entries) hook(headers, this.stream.facade);
      this.#interceptors = before;
    } catch (error) {
      this.#interceptors = 'failed';
      throw error;
    }
  }

  #asMetadata(given: TrailersInput | null): Readonly<Metadata> | null {
    if (given === null) return null;
    const trailers = typeof given === 'function' ? (given as () => MetadataInput | null)() : given;
    return freezeMetadata(trailers, this.stream.host.codec, 'trailers');
  }
}

/** Headers for this side's first frame on a stream that the remote opened. */
export interface SendOptions {
  /** Metadata ahead of the answer (S4), copied. An object without keys means none (S13). A TypeError after this side's first frame. Default none. */
  readonly headers?: MetadataInput | undefined;
}

/** Trailers, which leave with the end. */
export interface EndOptions {
  /** Metadata known only now, such as a count or a checksum (S4), copied. Default: the trailers of `setTrailers`, else none. */
  readonly trailers?: MetadataInput | undefined;
}

/** Headers, if the reply is this side's first frame, and trailers for this side's end. */
export interface ReplyOptions extends SendOptions, EndOptions {}

/** Names {@link SendOptions}. */
export const SEND_NAMES: NamesOf<SendOptions> = { headers: true };

/** Names {@link EndOptions}. */
export const END_NAMES: NamesOf<EndOptions> = { trailers: true };

/** Names {@link ReplyOptions}. */
export const REPLY_NAMES: NamesOf<ReplyOptions> = { headers: true, trailers: true };
