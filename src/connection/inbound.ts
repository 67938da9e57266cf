import type { Subscription } from 'rxjs';
import { log } from '../logger.js';
import { assembleInto } from '../operators/assemble.js';
import { decode } from '../operators/decode.js';
import { demultiplex } from '../operators/demultiplex.js';
import type { Sink, Sinks } from '../operators/demultiplex.js';
import { mapPresent, run } from '../rx/pipeline.js';
import type { PipelineHost } from '../rx/pipeline.js';
import { libraryReset } from '../stream/end.js';
import type { StreamCore } from '../stream/stream-core.js';
import { TokenBucket, patientTimer } from '../util/time.js';
import type { Message } from '../wire/codec.js';
import { CloseCode, ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/errors.js';
import type { StreamFault } from '../wire/errors.js';
import { ABSENT, FRAME_TYPES, typeName } from '../wire/frame.js';
import type { CompleteFrame, ConnectionFrame, FrameOf, FrameType, StreamFrame } from '../wire/frame.js';
import { encodedLength } from '../wire/length.js';
import type { Limits } from '../wire/limits.js';
import type { Connection } from './connection.js';

/** Refused opens before reading rests. The burst covers the opens of honest callers that do not know yet that the server is full. */
export const REFUSED_OPENS = { burst: 4_000, perSecond: 5_000 };
/** Length of a rest, in ms. One read may bring some 2 000 opens, so a rest bounds them to 8 000 per second. */
export const REST_MS = 250;

/**
 * The way in: `messages$ ─ count ─ decode ─ admit ─ assemble ─ demultiplex` is one pipeline. A frame reaches its stream, is dropped as late or
 * junk, or ends the connection (PROTOCOL.md, "Frames that do not fit"). Its stream is looked up once.
 */
export class Inbound implements PipelineHost, Sinks<CompleteFrame | StreamFault> {
  /** Bytes of the message in delivery. */
  messageBytes = 0;
  /** The stream of the admitted frame, until the stream takes it; `undefined` for a frame of the connection. */
  #stream: StreamCore | undefined;
  /** Highest id that the remote has opened. A remote stream at or below it that is not live is closed. */
  #highest = 0;
  /** Made for the first refused open. */
  #refusals: TokenBucket | null = null;
  #rest: Subscription | null = null;

  constructor(private readonly connection: Connection) {}

  /** Begins to read. */
  start(): void {
    const { transport, codec, limits, reassembly } = this.connection;
    const [count, admitted] = [this.#count, this.#admitted];
    const frames$ = transport.messages$.pipe(mapPresent(count, this), decode(codec, limits), mapPresent(admitted, this));
    run(frames$.pipe(assembleInto(reassembly), demultiplex(this)), this);
  }

  /** A message of the remote ends the connection. */
  failed(error: unknown): void {
    if (error instanceof ConnectionFault) error.message = this.connection.noted(error.message);
    this.connection.fail(error);
  }

  completed(): void {
    this.connection.ended();
  }

  /** Returns the receiver of the frame that was admitted. The connection receives its own frames. */
  get(id: number): Sink<CompleteFrame | StreamFault> | undefined {
    if (id === 0) return this.connection.control;
    const stream = this.#stream;
    // An idle connection must not keep the stream of its last frame.
    this.#stream = undefined;
    // A codec that reads a payload may have caused another delivery.
    return stream?.id === id ? stream : this.connection.streams.get(id);
  }

  /** The connection has ended. */
  stop(): void {
    this.#rest?.unsubscribe();
    this.#rest = null;
    this.connection.reading.caughtUp(this);
  }

  /** Returns a message to read, or `null` once the connection has failed. */
  #count(this: Inbound, message: Message): Message | null {
    const { isOver, transport, owner, watchdog, flood, limits } = this.connection;
    if (isOver) return null;
    const bytes = (this.messageBytes = transport.messageBytes ?? encodedLength(message));
    owner.tally.receivedFrames++;
    owner.tally.receivedBytes += bytes;
    watchdog.received(bytes);
    flood.received(bytes);
    if (bytes <= limits.maxMessageBytes) return message;
    throw new ConnectionFault(
      `message of ${bytes} bytes is over the limit of ${limits.maxMessageBytes} (maxMessageBytes)`,
      ResetCode.ENHANCE_YOUR_CALM,
      CloseCode.TOO_BIG,
    );
  }

  /** Returns the frame for its stream, or `null` to drop the frame. */
  #admitted(this: Inbound, frame: CompleteFrame): CompleteFrame | null {
    const { connection } = this;
    connection.owner.observed(connection.number, 'rx', frame, this.messageBytes);
    // The observer may have ended the connection.
    const admitted = connection.isOver ? null : this.#admit(frame);
    if (admitted === null || (this.messageBytes > connection.limits.maxPayloadBytes && !this.#fits(admitted))) return null;
    if (admitted.more) connection.watchdog.watchFragments();
    return admitted;
  }

  /** Returns the frame for its stream (0 is the connection), or `null` to drop the frame. */
  #admit(frame: CompleteFrame): StreamFrame | ConnectionFrame | null {
    // A look-up in `FRAME_TYPES` for each frame costs more. The compiler reports a type without a case, or with a case of another scope.
    const known = frame as StreamFrame | ConnectionFrame;
    switch (known.type) {
      case 'open':
        return this.#open(known);
      case 'data':
      case 'reset':
        return this.#ofStream(known);
      case 'ping':
      case 'pong':
      case 'goaway':
        return withoutStream(known);
      default:
        return ignored(known);
    }
  }

  /** Whether the payload of one whole message keeps to the limit of a fragmented payload. If not, its stream is reset. */
  #fits({ type, payload }: CompleteFrame): boolean {
    if (payload === ABSENT || FRAME_TYPES[type as FrameType].lane !== 'turn') return true;
    const { maxPayloadBytes } = this.connection.limits;
    const excess = this.#excess(payload);
    if (excess !== null)
      this.#stream?.resetForViolation(
        ResetCode.PAYLOAD_TOO_LARGE,
        `${excess} is over the receiver's limit of ${maxPayloadBytes} (maxPayloadBytes)`,
      );
    return excess === null;
  }

  /** Returns a description of an oversized payload, or `null`. */
  #excess(payload: unknown): string | null {
    const { codec, limits } = this.connection;
    try {
      const bytes = encodedLength(codec.encodePayload(payload));
      return bytes <= limits.maxPayloadBytes ? null : `payload of ${bytes} bytes`;
    } catch {
      // The codec may read values that it cannot write, such as 1e400.
      return `payload of a message of ${this.messageBytes} bytes, which cannot be measured,`;
    }
  }

  #open(frame: FrameOf<'open'>): FrameOf<'open'> | null {
    const { connection } = this;
    const id = frame.stream ?? 0;
    if (id === 0) throw new ConnectionFault(`expected a stream id on an open, got ${String(frame.stream)}`);
    if (connection.owns(id))
      throw new ConnectionFault(
        `expected an open of ${connection.isDialer ? 'an even' : 'an odd'} id, got ${id}, which belongs to this side`,
      );
    if (id <= this.#highest) return this.#lateOpen(frame, id);
    this.#highest = id;
    const { owner, control } = connection;
    owner.tally.opened++;
    const isLate = control.goaway.refuses(id);
    const refusal = isLate ? 'this side is going away' : this.#refusal();
    if (refusal === null) {
      const stream = (this.#stream = owner.remoteStream());
      stream.enter(connection, id);
      connection.streams.set(id, stream);
      return frame;
    }
    owner.tally.ended(libraryReset(refusal));
    connection.replies.reset(id, ResetCode.REFUSED, refusal);
    if (isLate) connection.flood.countJunk(`an open of stream ${id}: ${refusal}`);
    else {
      this.#countRefusal();
      owner.refused(ResetCode.REFUSED, refusal);
    }
    return null;
  }

  /** Returns why the remote may not open another stream, or `null`. */
  #refusal(): string | null {
    const { places, limits, flood, share } = this.connection;
    if (places >= limits.maxStreams) return `more than ${limits.maxStreams} streams (maxStreams)`;
    return flood.refusal ?? share?.streamRefusal() ?? null;
  }

  /**
   * This side has refused an open. The remote cannot know how many places are taken, or how fast handlers settle. So after too many, reading
   * rests for a while, as for a stream that lags, and the connection stays.
   */
  #countRefusal(): void {
    this.#refusals ??= new TokenBucket(REFUSED_OPENS);
    if (this.#refusals.take() || this.#rest !== null) return;
    this.#rest = patientTimer(REST_MS, () => {
      this.stop();
    });
    this.connection.reading.lag(this);
  }

  #lateOpen(frame: FrameOf<'open'>, id: number): FrameOf<'open'> | null {
    if (frame.fragment === null) throw new ConnectionFault(`expected an open above stream ${this.#highest}, got ${id}`);
    const live = (this.#stream = this.connection.streams.get(id));
    if (live === undefined) return null;
    if (live.phase === 'idle') return frame;
    live.resetForViolation(ResetCode.PROTOCOL_ERROR, `expected no fragment of an open that is complete`);
    return null;
  }

  #ofStream(frame: FrameOf<'data'> | FrameOf<'reset'>): StreamFrame | null {
    const { connection } = this;
    const { flood, replies, outbound } = connection;
    const id = frame.stream ?? 0;
    const live = (this.#stream = connection.streams.get(id));
    if (live !== undefined && !live.unsent) return frame.type === 'data' ? this.#data(frame, live) : frame;
    if (id !== 0 && (connection.owns(id) ? connection.hasOpened(id) : id <= this.#highest)) {
      if (frame.type === 'reset') outbound.dropClosed(id);
      return null;
    }
    flood.countJunk(id === 0 ? `${frame.type} without a stream id` : `${frame.type} of stream ${id}, which was never opened`);
    if (frame.type === 'data' && id !== 0) {
      replies.reset(id, ResetCode.PROTOCOL_ERROR, 'the stream was never opened');
      flood.countProvokedReset(ResetCode.PROTOCOL_ERROR);
    }
    return null;
  }

  #data(frame: FrameOf<'data'>, live: StreamCore): FrameOf<'data'> | null {
    if (!live.accepts('recvData')) {
      if (live.phase === 'idle') live.resetForViolation(ResetCode.PROTOCOL_ERROR, `expected the next fragment of the open, got data`);
      else live.resetForViolation(ResetCode.STREAM_CLOSED, `expected nothing after 'end', got data`);
      return null;
    }
    if (frame.trailers !== null && !frame.end && !frame.more) log('debug', `stream ${live.id}: ignored trailers without an end`);
    if (frame.end || frame.more || frame.headers !== null || frame.fragment !== null || frame.payload !== ABSENT) return frame;
    this.connection.flood.countJunk(`data of stream ${live.id} without payload, fragment, end or headers`);
    return null;
  }
}

/** Ignores a `stream` field on a frame of the connection. */
function withoutStream(frame: ConnectionFrame): ConnectionFrame {
  return frame.stream === null ? frame : { ...frame, stream: null };
}

function ignored(frame: never): null {
  log('debug', `ignored a ${typeName((frame as CompleteFrame).type)}`);
  return null;
}

/** The received bytes that earn the remote one more ping: a fast sender may probe its own bulk. */
export const BYTES_PER_PING = 256 * 1024;

/** Names of the limits that are rates. */
type RateName = 'resets' | 'provokedResets' | 'junk' | 'pings';

/** Counts acts that a remote may do now and then, but not without end. Throws a ConnectionFault for an act over its limit. */
export class FloodGuard {
  /** A bucket that does not exist yet is full. */
  #buckets: Partial<Record<RateName, TokenBucket>> | null = null;
  /** All bytes received on the connection. */
  receivedBytes = 0;
  /** Received bytes that have earned their pings. */
  #paidBytes = 0;

  constructor(private readonly limits: Limits) {}

  /** Why this side refuses new streams for now, or `null`. The reason is too many resets of streams whose handler had not settled. */
  get refusal(): string | null {
    return this.#buckets?.resets?.empty === true ? this.#tooMuch('resets', 'resets of running handlers') : null;
  }

  received(bytes: number): void {
    this.receivedBytes += bytes;
    if (this.receivedBytes - this.#paidBytes < BYTES_PER_PING) return;
    const pings = Math.floor((this.receivedBytes - this.#paidBytes) / BYTES_PER_PING);
    this.#buckets?.pings?.earn(pings);
    this.#paidBytes += pings * BYTES_PER_PING;
  }

  countPing(): void {
    this.#spend('pings', 'pings');
  }

  /** The remote has reset a stream whose handler is still at work. */
  countEarlyReset(): void {
    // A remote over this limit commits no fault: `refusal` then refuses its new opens.
    this.#bucket('resets').take();
  }

  /** The remote made this side send a reset. */
  countProvokedReset(code: ResetCode): void {
    if (code === ResetCode.PROTOCOL_ERROR || code === ResetCode.STREAM_CLOSED) this.#spend('provokedResets', 'provoked resets');
  }

  /** The remote has sent a frame that makes no sense and does no harm. */
  countJunk(what: string): void {
    log('debug', `ignored ${what}`);
    this.#spend('junk', 'frames that make no sense');
  }

  #spend(name: RateName, what: string): void {
    if (!this.#bucket(name).take()) throw ConnectionFault.tooMuch(this.#tooMuch(name, what));
  }

  #tooMuch(name: RateName, what: string): string {
    const { burst, perSecond } = this.limits[name];
    return `more than ${burst} at once and ${perSecond} per second ${what} (${name})`;
  }

  #bucket(name: RateName): TokenBucket {
    return ((this.#buckets ??= {})[name] ??= new TokenBucket(this.limits[name]));
  }
}
