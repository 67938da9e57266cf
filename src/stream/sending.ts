import { log } from '../logger.js';
import { guard } from '../rx/subscribers.js';
import type { NamesOf } from '../util/check.js';
import { Fifo } from '../util/collections.js';
import { checkedMessage, isPlain, unpacked } from '../wire/codec.js';
import type { Message, PackedPayload } from '../wire/codec.js';
import { CancelledError, QueueOverflowError, aboutStream, violation } from '../wire/errors.js';
import { checkFragmentable, fits } from '../wire/fragment.js';
import type { Slicer } from '../wire/fragment.js';
import { ABSENT } from '../wire/frame.js';
import type { Frame, Metadata, MetadataInput } from '../wire/frame.js';
import { OutgoingFrame, encodedPartOf, isSmall } from '../wire/outgoing.js';
import { chargeOf, chargeOfPart } from '../wire/reassembly.js';
import { endedHere, report } from './end.js';
import { extrasOf } from './extras.js';
import { copyMetadata, freezeMetadata } from './metadata.js';
import { SharedPayload, encodedPayload } from './payload.js';
import type { EncodedPayload } from './payload.js';
import { rejected, unheeded } from './promises.js';
import type { StreamCore, StreamOwner } from './stream-core.js';

/** A stream accepts more without waiting while its queue has fewer bytes. */
export const STREAM_ROOM_BYTES = 256 * 1024;
/** The bytes that a stream with an empty queue may add even at the limit: it did not ignore back-pressure. */
export const SPARED_BYTES = 16 * 1024;

/** Returns a frame's slices, or `null` if the frame fits one message. */
export type Cut = (frame: OutgoingFrame) => Slicer | null;

type Task = () => void;

interface Waiting {
  readonly frame: OutgoingFrame;
  /** Bytes of the frame that have not left. */
  bytes: number;
}

/**
 * The unsent frames of one stream, and the tasks of its senders. Both stay in the stream, whether it waits for its turn or for a socket. Some
 * slices of the front frame may already have left.
 */
export class Sending {
  readonly #frames = new Fifo<Waiting>();
  /** The slices of the front frame that have not left; `null` for a frame that is not cut. */
  #slices: Slicer | null = null;
  #room: Task[] | null = null;
  #demand: Task[] | null = null;
  /** Unsent bytes of payload. */
  bytes = 0;
  /** Whether the last frame ends this side. */
  isEnding = false;

  /** How many frames have not left whole. */
  get frames(): number {
    return this.#frames.length;
  }

  /** Whether nothing waits any more. */
  get isIdle(): boolean {
    return this.#frames.length === 0 && this.#room === null && this.#demand === null;
  }

  /** Whether the front frame is an open of which no slice has left. */
  get isUnopened(): boolean {
    return this.#slices?.inProgress !== true && this.front.type === 'open';
  }

  /**
   * The frame that leaves next or has left in part.
   *
   * @throws TypeError if no frame is queued
   */
  get front(): OutgoingFrame {
    return this.#front().frame;
  }

  /** Adds a frame. Returns the bytes that the frame counts for. */
  add(frame: OutgoingFrame): number {
    frame.unpack();
    const bytes = chargeOfPart(encodedPartOf(frame));
    this.#frames.push({ frame, bytes });
    this.bytes += bytes;
    this.isEnding = frame.end;
    return bytes;
  }

  /**
   * Takes the next whole frame, or the next slice of a frame.
   *
   * @param id the stream's, which a frame does not have while it waits for a socket
   * @throws errors of the codec; ProtocolError for a frame that cannot be cut; TypeError if no frame is queued
   */
  take(id: number | null, cut: Cut): Frame {
    const front = this.#front();
    const { frame } = front;
    frame.stream = id;
    this.#slices ??= cut(frame);
    const slice = this.#slices === null ? frame : this.#slices.next();
    if (this.#slices === null || this.#slices.done) {
      this.#charge(front, front.bytes);
      this.#slices = null;
      this.#frames.shift();
    } else this.#charge(front, Math.min(front.bytes, chargeOfSlice(slice)));
    return slice;
  }

  /** Drops the frames. */
  drop(): void {
    this.#frames.clear();
    this.#slices = null;
    this.bytes = 0;
    this.isEnding = false;
  }

  /** Keeps a task that waits for room or for demand. */
  wait(what: 'room' | 'demand', task: Task): void {
    if (what === 'room') (this.#room ??= []).push(task);
    else (this.#demand ??= []).push(task);
  }

  /** Runs the tasks that wait for room. */
  runRoom(): void {
    const tasks = this.#room;
    this.#room = null;
    if (tasks !== null) runAll(tasks);
  }

  /** Runs the tasks that wait for demand. */
  runDemand(): void {
    const tasks = this.#demand;
    this.#demand = null;
    if (tasks !== null) runAll(tasks);
  }

  /** Removes and returns all tasks. */
  takeTasks(): readonly Task[] {
    const tasks = [...(this.#room ?? []), ...(this.#demand ?? [])];
    this.#room = this.#demand = null;
    return tasks;
  }

  #front(): Waiting {
    const front = this.#frames.peek();
    if (front === undefined) throw new TypeError('expected a frame to be queued, got a queue that is empty');
    return front;
  }

  #charge(front: Waiting, bytes: number): void {
    front.bytes -= bytes;
    this.bytes -= bytes;
  }
}

/** Returns the charge of a slice. A plain slice has as many bytes as units, and needs no measuring. */
function chargeOfSlice(slice: Frame): number {
  const part = encodedPartOf(slice);
  return typeof part === 'string' && isPlain(slice) ? chargeOf(part.length) : chargeOfPart(part);
}

/** Runs tasks in their order. */
export function runAll(tasks: readonly Task[]): void {
  for (const task of tasks) task();
}

/** Removes and returns the tasks that wait on a stream. The caller runs them once the stream's owner knows its end. */
export function takeTasks({ sending }: StreamCore): readonly Task[] {
  return sending?.takeTasks() ?? [];
}

// A closed stream always has room and demand, so that no task waits on it. So does one whose end waits for a socket.
function isPast({ hasClosed, sealed, carrier, place }: StreamCore): boolean {
  return hasClosed || (sealed && carrier === null && place !== null);
}

/** Whether a stream can send more without growing a long queue. */
export function hasRoom(stream: StreamCore): boolean {
  return isPast(stream) || stream.place?.hasRoom(stream) === true;
}

/** Runs `task` once there is room, or once the stream has ended. */
export function whenRoom(stream: StreamCore, task: Task): void {
  if (hasRoom(stream)) task();
  // After the wait the stream may be on another socket.
  else wait(stream, 'room', () => whenRoom(stream, task));
}

/** Whether a frame sent now leaves at once, so that it is time to pull the next value. The frames of a waiting stream never do. */
export function hasDemand(stream: StreamCore): boolean {
  return isPast(stream) || stream.place?.hasDemand(stream) === true;
}

/** Runs `task` once a frame would leave at once, or once the stream has ended. */
export function whenDemand(stream: StreamCore, task: Task): void {
  if (isPast(stream)) task();
  else wait(stream, 'demand', task);
}

/** Returns whether the queues of all streams are so full that a value of `bytes` must fail if it did not wait for room. */
export function overflowsWith(stream: StreamCore, bytes: number): boolean {
  return stream.place?.overflowsWith(stream, bytes) === true;
}

function wait(stream: StreamCore, what: 'room' | 'demand', task: Task): void {
  if (stream.place === null) return;
  stream.ownSending.wait(what, task);
  stream.place.waits(stream, what);
}

/**
 * Returns a frame to send, whose fields hold the value of the payload. The id is `null` before the stream has one.
 *
 * @throws ProtocolError if no cut can make the frame fit, because its headers or trailers are too big
 */
export function sendable(owner: StreamOwner, frame: Frame, { source, encoded }: EncodedPayload, id: number | null): OutgoingFrame {
  return new OutgoingFrame(frame, encoded, owner.codec, source, checkSendable(owner, frame, encoded, id));
}

/** Returns whether a frame surely fits one message, under any id. */
function checkSendable(owner: StreamOwner, frame: Frame, packed: PackedPayload | null, id: number | null): boolean {
  const { codec, options } = owner;
  const { maxFrameBytes } = options;
  if (isSmall(frame, packed, maxFrameBytes, codec)) return true;
  const encodedPayload = unpacked(packed);
  // Measure with the stream's future id, or with the longest id if no session knows it. Errors do not name it.
  const numbered = { ...frame, stream: id ?? owner.nextStreamId ?? Number.MAX_SAFE_INTEGER };
  if (!fits(numbered, encodedPayload, maxFrameBytes, codec)) checkFragmentable(numbered, encodedPayload, maxFrameBytes, codec, id);
  return false;
}

/**
 * Encodes the payload of a reset. Returns `null` if there is no payload, or, with a warning, if it cannot be sent. An error's name and
 * message are sent all the same.
 */
export function resetPayload(owner: StreamOwner, payload: unknown, id: number | null): Message | null {
  if (payload === undefined || payload === null) return null;
  try {
    const encoded = checkedMessage(owner.codec, owner.codec.encodePayload(payload));
    checkSendable(owner, { type: 'reset', payload }, encoded, id);
    return encoded;
  } catch (error) {
    const rest = nameAndMessage(payload);
    const goes = rest === null ? 'without it' : 'with its name and message alone';
    log('warn', aboutStream(id, `the payload of a reset cannot be sent, and the reset goes ${goes}`), error);
    return resetPayload(owner, rest, id);
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

/** @throws errors of an interceptor or the codec */
export function sendHeaders(stream: StreamCore, headers?: MetadataInput): void {
  if (stream.begun || refusal(stream) !== null) return;
  const first = firstHeaders(stream, headers);
  if (first !== null) transmit(stream, { type: 'data', headers: first }, encodedPayload(stream.owner.codec, ABSENT));
  else if (isIntercepted(stream)) extrasOf(stream).interceptors = 'done';
}

/** Sends the interceptors' headers ahead of a reset, if the interceptors have not run. Logs an interceptor's error. */
export function sendHeadersOfFailure(stream: StreamCore): void {
  if (isIntercepted(stream) && extrasOf(stream).interceptors === 'due')
    guard('a reply-headers interceptor', () => {
      sendHeaders(stream);
    });
}

/** {@link accept} as a promise. Resolves once the stream's queue is short, or rejects with the error that ended the stream. */
export function send(stream: StreamCore, value: unknown, end: boolean, headers?: MetadataInput, trailers?: TrailersInput): Promise<void> {
  const refused = accept(stream, value, end, headers, trailers);
  if (refused !== null) return rejected(refused);
  if (hasRoom(stream)) return READY;
  const room = new Promise<void>((resolve) => {
    whenRoom(stream, resolve);
  });
  return unheeded<void>((resolve, fail) => {
    // A reset frees the queue too; `stream.failure` is set one microtask later.
    void room.then(() => {
      if (stream.failure === null) resolve();
      else fail(stream.failure);
    });
  });
}

/**
 * Queues a value, or the end with or without a last value. Returns `null`, or the error of a refused value or end.
 *
 * @throws TypeError for headers after this side's first frame; errors of the codec, of an interceptor or of the trailers
 */
export function accept(stream: StreamCore, value: unknown, end = false, headers?: MetadataInput, trailers?: TrailersInput): unknown {
  const early = refusal(stream);
  if (early !== null) return early;
  // Before its first value, a stream may owe headers.
  if (value instanceof SharedPayload && stream.replied && !end && !headers && stream.owner.sendShared?.(stream, value)) return null;
  const payload = encodedPayload(stream.owner.codec, value);
  const overflow = overflowOf(stream, payload);
  if (overflow !== null) return overflow;
  const last = end ? asMetadata(stream, trailers ?? stream.extras?.trailers ?? null) : null;
  const frame = { type: 'data', payload: payload.value, headers: firstHeaders(stream, headers), end, trailers: last };
  // Code in the value, in the metadata or in interceptors may have ended the stream.
  const late = refusal(stream);
  if (late !== null) return late;
  transmit(stream, frame, payload);
  return null;
}

function transmit(stream: StreamCore, fields: Frame, payload: EncodedPayload): void {
  const frame = sendable(stream.owner, fields, payload, stream.id);
  stream.sends(payload.encoded !== null || frame.end);
  stream.send(frame);
}

/** Returns the error of an attempt to send now, or `null` if the stream may send. */
export function refusal(stream: StreamCore): unknown {
  if (!stream.sealed) return null;
  const streamId = stream.id;
  const { cause, failure } = stream;
  if (failure !== null && !endedHere(cause)) return failure;
  if (stream.owner.isClosing) return new CancelledError('the peer is closing', { streamId });
  if (extrasOf(stream).takeWarning()) log('warn', aboutStream(streamId, stream.local ? LATE_VALUE : LATE_ANSWER));
  return violation(streamId, 'expected nothing to be sent after the end');
}

function overflowOf(stream: StreamCore, { encoded }: EncodedPayload): Error | null {
  // A bare end takes no room. An overflow must not destroy the answer before it.
  if (encoded === null) return null;
  // The common case measures nothing.
  if (!overflowsWith(stream, Infinity) || !overflowsWith(stream, chargeOfPart(encoded))) return null;
  const error = new QueueOverflowError(TOO_MUCH, { streamId: stream.id, retriable: stream.unsent });
  stream.cancel('the sender overflowed its queue', error);
  // Report the error: a queue overflows when callers ignore the promise of `send`.
  if (!stream.local) report(error, stream);
  return error;
}

function isIntercepted({ owner }: StreamCore): boolean {
  return owner.hooks.replyHeaders.entries.length > 0;
}

/** Returns the headers of this side's first frame; `null` after that frame, or for no headers. */
function firstHeaders(stream: StreamCore, headers: MetadataInput | undefined): Readonly<Metadata> | null {
  if (headers === undefined && (stream.begun || !isIntercepted(stream) || extrasOf(stream).interceptors === 'done')) return null;
  const copy = copyMetadata(headers);
  if (!stream.begun && isIntercepted(stream)) intercept(stream, copy);
  const first = stream.begun ? null : freezeMetadata(copy, stream.owner.codec);
  // A header value may itself send the first frame while it is encoded.
  if (!stream.begun) return first;
  if (Object.keys(copy).length > 0)
    throw new TypeError(`expected headers with the ${stream.local ? 'open' : 'first frame'} only, got some after it`);
  return null;
}

/** Calls the interceptors, which may change the headers of the first frame. */
function intercept(stream: StreamCore, headers: Metadata): void {
  const extras = extrasOf(stream);
  const before = extras.interceptors;
  if (before === 'running')
    throw new TypeError(
      'expected a reply-headers interceptor to send nothing on its stream, whose first frame it is asked about, got a send',
    );
  extras.interceptors = 'running';
  try {
    for (const { hook } of stream.owner.hooks.replyHeaders.entries) hook(headers, stream.facade);
    extras.interceptors = before;
  } catch (error) {
    extras.interceptors = 'failed';
    throw error;
  }
}

function asMetadata(stream: StreamCore, given: TrailersInput | null): Readonly<Metadata> | null {
  if (given === null) return null;
  const trailers = typeof given === 'function' ? (given as () => MetadataInput | null)() : given;
  return freezeMetadata(trailers, stream.owner.codec, 'trailers');
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
