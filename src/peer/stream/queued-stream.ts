import { STREAM_ROOM_BYTES, SPARED_BYTES } from '../../session/send/backlog.js';
import type { CloseCause } from '../../session/base/close-cause.js';
import type { Session } from '../../session/session.js';
import { NO_EXTRAS } from '../../session/streams/stream-line.js';
import type { ResetExtras, StreamLine } from '../../session/streams/stream-line.js';
import type { StreamPhase } from '../../session/streams/stream-state.js';
import { runAll } from '../../session/base/waiters.js';
import { chargeOfPart } from '../../wire/held-bytes.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import type { ResetCode } from '../../wire/reset-code.js';
import type { StreamCore } from './stream-core.js';
import type { OpenQueue } from './open-queue.js';

/** The number of frames of a stream that has sent only its open. */
const OPEN_ALONE = 1;

/** A stream that no socket has accepted yet. Its frames wait here. */
export class QueuedStream implements StreamLine {
  readonly id = null;
  readonly local = true;
  readonly unsent = true;
  readonly arrivedBytes = 0;
  stream: StreamCore | null = null;
  readonly #frames: OutgoingFrame[] = [];
  readonly #waiters: (() => void)[];
  #bytes = 0;
  #ended: CloseCause | null = null;
  #sealed = false;

  constructor(
    private queue: OpenQueue,
    readonly isNotification: boolean,
    waiters: readonly (() => void)[] = [],
  ) {
    this.#waiters = [...waiters];
  }

  get phase(): StreamPhase {
    return this.#ended === null ? 'idle' : 'closed';
  }

  get sealed(): boolean {
    return this.#sealed || this.#ended !== null;
  }

  get hasRoom(): boolean {
    return this.sealed || (this.#bytes < STREAM_ROOM_BYTES && !this.queue.full);
  }

  /** A queued frame never leaves at once. Only a sealed stream has demand, so that no task waits on it. */
  get hasDemand(): boolean {
    return this.sealed;
  }

  whenRoom(task: () => void): void {
    if (this.hasRoom) task();
    else this.#waiters.push(task);
  }

  whenDemand(task: () => void): void {
    if (this.hasDemand) task();
    else this.#waiters.push(task);
  }

  /** The queue has room again. */
  roomFreed(): void {
    if (this.hasRoom) runAll(this.#waiters.splice(0));
  }

  overflowsWith(bytes: number): boolean {
    return this.queue.full && (bytes > SPARED_BYTES || this.#frames.length > OPEN_ALONE || this.queue.bytes >= 2 * this.queue.limit);
  }

  send(frame: OutgoingFrame): void {
    if (this.#ended !== null) return;
    if (frame.end) this.#sealed = true;
    this.#frames.push(frame);
    const bytes = chargeOfPart(OutgoingFrame.encodedPayload(frame));
    this.#bytes += bytes;
    this.queue.charge(bytes);
  }

  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, { payload = null, error }: ResetExtras = NO_EXTRAS): void {
    this.fail({ how: 'reset', by, code, reason, payload }, error);
  }

  // This side opened the stream, and no frame arrives before the open has left.
  taken(): void {}
  handlerStarted(): void {}
  handlerSettled(): void {}
  weigh(): number {
    return 0;
  }

  keep(): boolean {
    return true;
  }
  read(): void {}
  handOver(): void {}

  /** Moves the stream to a session before its first frame leaves: hooks may send on the stream then, and the answer may come. */
  flushTo(session: Session): void {
    const { stream } = this;
    if (stream === null) return;
    const live = session.open(this.isNotification);
    live.sink = stream;
    session.scheduler.batch(() => {
      for (const frame of this.#frames) live.send(frame);
      stream.line = live;
      this.queue.release(this, this.#bytes);
    });
    for (const task of this.#waiters.splice(0)) stream.line.whenRoom(task);
  }

  /** Moves to another queue. */
  moveTo(queue: OpenQueue): void {
    this.queue.release(this, this.#bytes);
    this.queue = queue;
    queue.take(this, this.#bytes);
  }

  fail(cause: CloseCause, error?: unknown): void {
    if (this.#ended !== null) return;
    this.#ended = cause;
    this.queue.release(this, this.#bytes);
    this.#frames.length = 0;
    this.stream?.gone(cause, error);
    runAll(this.#waiters.splice(0));
  }
}
