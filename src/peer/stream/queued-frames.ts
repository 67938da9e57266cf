import { STREAM_ROOM_BYTES, SPARED_BYTES } from '../../session/send/room.js';
import type { Session } from '../../connection/connection.js';
import type { LiveStream } from '../../stream/stream-core.js';
import type { WaitingFrames } from '../../session/streams/live-stream-host.js';
import { runAll } from '../../session/base/waiters.js';
import { chargeOfPart } from '../../wire/held-bytes.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import type { OpenQueue } from '../waiting.js';

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
