import { log } from '../../logger.js';
import type { Transport } from '../../transport/transport.js';
import type { Message } from '../../wire/codec.js';
import type { Frame } from '../../wire/frame.js';
import { encodedPartOf } from '../../wire/outgoing.js';
import { ResetCode } from '../../wire/codes.js';
import type { SplitMessage } from '../../wire/split-message.js';
import type { FrameObserver } from '../base/frame-observer.js';
import { overtakes } from '../base/precedence.js';
import { resetFrame } from '../send/control-frames.js';
import type { MessageForm } from '../send/control-frames.js';
import type { ControlReplies } from '../../connection/replies.js';
import type { Scheduler } from '../../connection/outbound.js';
import type { LiveStream } from '../../stream/stream-core.js';
import type { StreamOwner } from './live-stream-host.js';
import type { StreamTable } from './stream-table.js';

/** The parts of a session that departures use. */
export interface DepartureHost extends MessageForm {
  readonly number: number;
  readonly transport: Pick<Transport, 'send'>;
  readonly streams: StreamTable;
  readonly scheduler: Pick<Scheduler, 'addReset' | 'backlog'>;
  readonly replies: ControlReplies;
  readonly owner: FrameObserver & Pick<StreamOwner, 'tally'>;
  readonly control: {
    /** The socket has accepted a ping. */
    pinged(nonce: string): void;
  };
  readonly watchdog: {
    /** The socket has accepted a message. */
    sent(message: Message | SplitMessage): void;
  };
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
  readonly begin = (slice: Frame): Frame | null => {
    // Only an open and an end move the state of a stream. A stream leaves the table before its reset is queued.
    const stream = slice.type === 'open' || slice.end === true ? this.host.streams.get(Number(slice.stream)) : undefined;
    if (slice.type === 'open') stream?.advance('leave');
    else if (slice.type === 'reset' && !this.#isForRemote(slice)) {
      this.#resetLeaving(slice);
      return null;
    }
    this.host.owner.observed(this.host.number, 'tx', slice, 0);
    this.#slice = slice;
    this.#stream = stream;
    return slice;
  };

  /** Writes the message of the slice. The remote may answer before this returns. */
  readonly complete = (message: Message | SplitMessage): null => {
    const { owner, number, transport, watchdog, control } = this.host;
    if (this.#slice !== null) owner.sized?.encoded(number, this.#slice, message);
    const slice = this.#slice;
    const stream = this.#stream;
    // The codec or an observer ended the connection, and the goaway went ahead of this slice.
    if (slice === null) return null;
    this.#clear();
    // Advance the state first: a socket may deliver the answer within `send`.
    const isEnd = this.#leaving(slice, stream);
    owner.tally.sentFrames++;
    transport.send(message);
    watchdog.sent(message);
    if (slice.type === 'ping') control.pinged(String(slice.nonce));
    if (isEnd) stream?.release();
    return null;
  };

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
    const { streams, scheduler } = this.host;
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
      const code = isReset ? (frame.code ?? null) : ResetCode.INTERNAL_ERROR;
      scheduler.addReset(resetFrame(this.host, id, code, frame.reason ?? ''), overtakes(code));
    }
  }

  #clear(): void {
    this.#slice = null;
    this.#stream = undefined;
  }

  /** Whether the remote needs a reset. It needs none of a stream whose open never left, except as a reply to its own frame. */
  #isForRemote(reset: Frame): boolean {
    const { streams, replies } = this.host;
    const id = reset.stream ?? 0;
    return !streams.owns(id) || streams.hasOpened(id) || replies.owes(reset);
  }

  /** The pipeline is about to write a slice. Returns whether the slice ends its stream. */
  #leaving(slice: Frame, stream: LiveStream | undefined): boolean {
    if (slice.type === 'open') this.host.streams.opened(Number(slice.stream));
    if (slice.type === 'open' || slice.type === 'data') return stream?.leaving(slice) === true;
    if (slice.type === 'reset') this.#resetLeaving(slice);
    else this.host.replies.sent(slice);
    return false;
  }

  /** A reset is about to be written, or the remote does not need it. */
  #resetLeaving(slice: Frame): void {
    this.host.replies.sent(slice);
    if (slice.more !== true) this.host.streams.resetWritten(slice.stream ?? 0);
  }
}
