import { log } from '../../logger.js';
import type { Message } from '../../wire/codec.js';
import type { Frame } from '../../wire/frame.js';
import { encodedPartOf } from '../../wire/outgoing.js';
import { ResetCode } from '../../wire/reset-code.js';
import type { ControlFrames } from '../send/control-frames.js';
import type { ControlReplies } from '../send/control-replies.js';
import type { Scheduler } from '../send/scheduler.js';
import type { LiveStream } from './live-stream.js';
import type { StreamTable } from './stream-table.js';

/** The parts of a session that departures use. */
export interface DepartureHost {
  readonly streams: StreamTable;
  readonly scheduler: Pick<Scheduler, 'add' | 'backlog'>;
  readonly replies: ControlReplies;
  readonly frames: ControlFrames;
  /** The pipeline is about to encode a frame. */
  leaves(frame: Frame): void;
  /** The pipeline has encoded a frame. */
  encoded(frame: Frame, message: Message): void;
  /** Writes a message to the socket. */
  write(message: Message): void;
  /** The socket has accepted a ping. */
  pinged(nonce: string): void;
  /** Ends the connection. */
  fail(error: unknown): void;
}

/**
 * Advances the state of streams as their frames leave. The outbound pipeline is synchronous. It calls {@link begin} with a slice, then
 * {@link complete} with its message or {@link fail} with its error. Only then comes the next slice.
 */
export class Departures {
  /** The slice in the pipeline. */
  #slice: Frame | null = null;
  /** The stream of that slice. */
  #stream: LiveStream | undefined;

  constructor(private readonly host: DepartureHost) {}

  /** Returns the slice, or `null` if the remote does not need it. */
  begin(slice: Frame): Frame | null {
    const stream = this.host.streams.get(slice.stream ?? 0);
    if (slice.type === 'open') stream?.advance('leave');
    if (this.#isForRemote(slice)) {
      this.host.leaves(slice);
      this.#slice = slice;
      this.#stream = stream;
      return slice;
    }
    this.host.replies.sent(slice);
    this.#resetLeaving(slice);
    return null;
  }

  /** Writes the message of the slice. */
  complete(message: Message): null {
    if (this.#slice !== null) this.host.encoded(this.#slice, message);
    const [slice, stream] = [this.#slice, this.#stream];
    this.#clear();
    // The codec or an observer ended the connection, and the goaway went ahead of this slice.
    if (slice === null) return null;
    this.host.replies.sent(slice);
    // Advance the state first: a socket may deliver the answer within `send`.
    const isEnd = this.#leaving(slice, stream);
    this.host.write(message);
    if (slice.type === 'ping') this.host.pinged(String(slice.nonce));
    if (isEnd) stream?.release();
    return null;
  }

  /** The pipeline failed on its slice, or after it had written the slice. */
  fail(error: unknown): void {
    const slice = this.#slice;
    this.#clear();
    if (slice === null) this.host.fail(error);
    else {
      this.host.replies.sent(slice);
      this.unsendable(slice, error);
    }
  }

  /** Ends the stream of a frame that cannot be cut or encoded. The connection goes on. */
  unsendable(frame: Frame, error: unknown): void {
    const { streams, scheduler, frames } = this.host;
    const id = frame.stream ?? 0;
    const isReset = frame.type === 'reset';
    if (id === 0 || (isReset && encodedPartOf(frame) === null)) {
      this.host.fail(error);
      return;
    }
    log('error', `stream ${id}: a frame of type '${frame.type}' could not be encoded`, error);
    const stream = streams.get(id);
    if (stream !== undefined) stream.reset('library', ResetCode.INTERNAL_ERROR, 'a frame could not be encoded');
    else {
      // The stream had closed before this frame left. Send a reset without the part that cannot be encoded.
      scheduler.backlog.drop(id);
      scheduler.add(frames.reset(id, isReset ? (frame.code ?? null) : ResetCode.INTERNAL_ERROR, frame.reason ?? ''));
    }
  }

  #clear(): void {
    this.#slice = null;
    this.#stream = undefined;
  }

  /** Whether the remote needs the slice. It needs no reset of a stream whose open never left, except as a reply to its own frame. */
  #isForRemote(slice: Frame): boolean {
    if (slice.type !== 'reset') return true;
    const { streams, replies } = this.host;
    const id = slice.stream ?? 0;
    return !streams.owns(id) || streams.hasOpened(id) || replies.owes(slice);
  }

  /** The pipeline is about to write a slice. Returns whether the slice ends its stream. */
  #leaving(slice: Frame, stream: LiveStream | undefined): boolean {
    if (slice.type === 'reset') {
      this.#resetLeaving(slice);
      return false;
    }
    if (slice.type === 'open') this.host.streams.opened(Number(slice.stream));
    return stream?.leaving(slice) === true;
  }

  #resetLeaving({ stream, more }: Frame): void {
    if (more !== true) this.host.streams.resetWritten(stream ?? 0);
  }
}
