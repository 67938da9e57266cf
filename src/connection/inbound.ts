import { log } from '../logger.js';
import type { Sink, Sinks } from '../operators/route.js';
import type { FrameObserver } from '../session/base/frame-observer.js';
import type { Share } from '../session/base/share.js';
import type { LiveStreamHost, StreamOwner } from '../session/streams/live-stream-host.js';
import { RefusalPace } from '../session/streams/refusal-pace.js';
import type { LiveStream } from '../stream/stream-core.js';
import type { Transport } from '../transport/transport.js';
import { CloseCode } from '../wire/close-reason.js';
import type { Message } from '../wire/codec.js';
import { ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/fault.js';
import type { StreamFault } from '../wire/fault.js';
import { FRAME_TYPES, typeName } from '../wire/frame-types.js';
import type { ConnectionFrame, FrameOf, FrameType, StreamFrame } from '../wire/frame-types.js';
import { ABSENT } from '../wire/frame.js';
import type { CompleteFrame } from '../wire/frame.js';
import { encodedLength } from '../wire/length.js';
import type { Limits } from '../wire/limits.js';
import type { ControlReplies } from './replies.js';

/** The parts of a session that its admission uses. */
export interface AdmissionHost extends LiveStreamHost {
  readonly number: number;
  readonly isDialer: boolean;
  readonly transport: Pick<Transport, 'messageBytes'>;
  readonly limits: Limits;
  readonly owner: FrameObserver & StreamOwner;
  readonly replies: ControlReplies;
  /** `null`: this connection shares no limits with others. */
  readonly share: Share | null;
  /** Takes the frames of the connection itself. */
  readonly control: Sink<CompleteFrame> & LiveStreamHost['control'];
  readonly watchdog: {
    /** A message has come in. */
    received(bytes: number): void;
    /** A fragment has come in, and more are to follow. */
    watchFragments(): void;
  };
  readonly closing: LiveStreamHost['closing'] & {
    /** Whether the connection has failed or ended. */
    readonly isOver: boolean;
  };
}

/**
 * Counts the messages that come in, and checks each frame before reassembly. The inbound pipeline calls {@link message}, then {@link frame}.
 * A frame reaches its stream, is dropped as late or junk, or ends the connection (PROTOCOL.md, "Frames that do not fit").
 */
export class Admission implements Sinks<CompleteFrame | StreamFault> {
  #messageBytes = 0;
  /** Highest id that the remote has opened. A remote stream at or below it that is not live is closed. */
  #highest = 0;
  /** Created for the first refused open. */
  #refusals: RefusalPace | null = null;

  constructor(private readonly host: AdmissionHost) {}

  /** Bytes of the message in delivery. */
  get messageBytes(): number {
    return this.#messageBytes;
  }

  /** Returns a message to read, or `null` once the connection has failed. */
  readonly message = (message: Message): Message | null => {
    const { closing, transport, owner, watchdog, flood, limits } = this.host;
    if (closing.isOver) return null;
    const bytes = (this.#messageBytes = transport.messageBytes ?? encodedLength(message));
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
  };

  /** Returns the frame for its stream, or `null` to drop the frame. */
  readonly frame = (frame: CompleteFrame): CompleteFrame | null => {
    const { host } = this;
    host.owner.observed(host.number, 'rx', frame, this.#messageBytes);
    // The observer may have ended the connection.
    const admitted = host.closing.isOver ? null : this.#admit(frame);
    if (admitted === null || (this.#messageBytes > host.limits.maxPayloadBytes && !this.#fits(admitted))) return null;
    if (admitted.more) host.watchdog.watchFragments();
    return admitted;
  };

  /** Returns the receiver of admitted frames by id. Stream 0 is the connection itself, which receives its own frames. */
  get(id: number): Sink<CompleteFrame | StreamFault> | undefined {
    const { control, streams } = this.host;
    return id === 0 ? control : streams.get(id);
  }

  /** The connection has ended. */
  stop(): void {
    this.#refusals?.stop();
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
  #fits({ type, stream, payload }: CompleteFrame): boolean {
    if (payload === ABSENT || FRAME_TYPES[type as FrameType].lane !== 'turn') return true;
    const excess = this.#excess(payload);
    if (excess !== null)
      this.host.streams
        .get(Number(stream))
        ?.resetForViolation(
          ResetCode.PAYLOAD_TOO_LARGE,
          `${excess} is over the limit of ${this.host.limits.maxPayloadBytes} (maxPayloadBytes)`,
        );
    return excess === null;
  }

  /** Returns a description of an oversized payload, or `null`. */
  #excess(payload: unknown): string | null {
    const { codec, limits } = this.host;
    try {
      const bytes = encodedLength(codec.encodePayload(payload));
      return bytes <= limits.maxPayloadBytes ? null : `payload of ${bytes} bytes`;
    } catch {
      // The codec may read values that it cannot write, such as 1e400.
      return `payload of a message of ${this.#messageBytes} bytes, which cannot be measured,`;
    }
  }

  #open(frame: FrameOf<'open'>): FrameOf<'open'> | null {
    const { host } = this;
    const id = frame.stream ?? 0;
    if (id === 0) throw new ConnectionFault(`expected a stream id on an open, got ${String(frame.stream)}`);
    if (host.streams.owns(id))
      throw new ConnectionFault(`expected an open of ${host.isDialer ? 'an even' : 'an odd'} id, got ${id}, which belongs to this side`);
    if (id <= this.#highest) return this.#lateOpen(frame, id);
    this.#highest = id;
    host.owner.tally.opened++;
    const isLate = host.control.goaway.refuses(id);
    const refusal = isLate ? 'this side is going away' : this.#refusal();
    if (refusal === null) {
      const stream = host.owner.remoteStream();
      stream.enter(host, id);
      host.streams.set(id, stream);
      return frame;
    }
    host.owner.tally.ended({ how: 'reset', by: 'library', code: ResetCode.REFUSED, reason: refusal, payload: null });
    host.replies.reset(id, ResetCode.REFUSED, refusal);
    if (isLate) host.flood.countJunk(`an open of stream ${id}: ${refusal}`);
    else {
      // The remote cannot know how many places are taken, or how fast handlers settle. So slow the remote, and keep its connection.
      this.#refusals ??= new RefusalPace(host.reading);
      this.#refusals.count();
      host.owner.refused(ResetCode.REFUSED, refusal);
    }
    return null;
  }

  /** Returns why the remote may not open another stream, or `null`. */
  #refusal(): string | null {
    const { streams, limits, flood, share } = this.host;
    if (streams.occupied >= limits.maxStreams) return `more than ${limits.maxStreams} streams (maxStreams)`;
    return flood.refusal ?? share?.streamRefusal() ?? null;
  }

  #lateOpen(frame: FrameOf<'open'>, id: number): FrameOf<'open'> | null {
    if (frame.fragment === null) throw new ConnectionFault(`expected an open above stream ${this.#highest}, got ${id}`);
    const live = this.host.streams.get(id);
    if (live === undefined) return null;
    if (live.phase === 'idle') return frame;
    live.resetForViolation(ResetCode.PROTOCOL_ERROR, `expected no fragment of an open that is complete`);
    return null;
  }

  #ofStream(frame: FrameOf<'data'> | FrameOf<'reset'>): StreamFrame | null {
    const { host } = this;
    const id = frame.stream ?? 0;
    const live = host.streams.get(id);
    if (live !== undefined && !live.unsent) {
      return frame.type === 'data' ? this.#data(frame, live) : frame;
    }
    if (id !== 0 && (host.streams.owns(id) ? host.streams.hasOpened(id) : id <= this.#highest)) {
      if (frame.type === 'reset') this.#drop(id);
      return null;
    }
    host.flood.countJunk(id === 0 ? `${frame.type} without a stream id` : `${frame.type} of stream ${id}, which was never opened`);
    if (frame.type === 'data' && id !== 0) {
      host.replies.reset(id, ResetCode.PROTOCOL_ERROR, 'the stream was never opened');
      host.flood.countProvokedReset(ResetCode.PROTOCOL_ERROR);
    }
    return null;
  }

  /** Drops the queued frames of a closed stream, because the remote wants no more of it. */
  #drop(id: number): void {
    const { scheduler, streams } = this.host;
    scheduler.backlog.drop(id);
    streams.resetWritten(id);
    scheduler.release(id);
  }

  #data(frame: FrameOf<'data'>, live: LiveStream): FrameOf<'data'> | null {
    if (!live.accepts('recvData')) {
      if (live.phase === 'idle') live.resetForViolation(ResetCode.PROTOCOL_ERROR, `expected the next fragment of the open, got data`);
      else live.resetForViolation(ResetCode.STREAM_CLOSED, `expected nothing after 'end', got data`);
      return null;
    }
    if (frame.trailers !== null && !frame.end && !frame.more) log('debug', `stream ${live.id}: ignored trailers without an end`);
    if (frame.end || frame.more || frame.headers !== null || frame.fragment !== null || frame.payload !== ABSENT) return frame;
    this.host.flood.countJunk(`data of stream ${live.id} without payload, fragment, end or headers`);
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
