import type { LiveStream, StreamLine } from '../session/live-stream.js';
import type { Session } from '../session/session.js';
import type { StreamPhase } from '../session/stream-state.js';
import type { CloseCause } from '../session/close-cause.js';
import type { Message } from '../wire/codec.js';
import { QueueOverflowError } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';
import type { Frame } from '../wire/frame.js';
import { LEAST_CHARGE } from '../wire/held-bytes.js';
import { encodedLength } from '../wire/length.js';
import type { ResetCode } from '../wire/reset-code.js';
import type { StreamCore } from './stream-core.js';

interface Unsent {
  readonly frame: Omit<Frame, 'stream'>;
  readonly encodedPayload: Message | null;
}

/** Opens that wait for a connection, first come first served, bounded in bytes. */
export class WaitingRoom {
  readonly #waiting = new Set<WaitingStream>();
  #bytes = 0;

  constructor(readonly limit: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    return this.#waiting.size === 0;
  }

  /**
   * Puts a stream in the queue.
   *
   * @throws QueueOverflowError when the queue is full; one stream larger than the limit may wait alone
   */
  enter(forgotten: boolean, encodedPayload: Message | null): WaitingStream {
    const bytes = sizeOf(encodedPayload);
    if (this.#bytes > 0 && this.#bytes + bytes > this.limit) {
      throw new QueueOverflowError(
        `${this.#bytes + bytes} bytes waiting for a connection are over the limit of ${this.limit} (maxQueuedBytes)`,
        { retriable: true },
      );
    }
    const stream = new WaitingStream(this, forgotten);
    this.#waiting.add(stream);
    return stream;
  }

  charge(bytes: number): void {
    this.#bytes += bytes;
  }

  leave(stream: WaitingStream, bytes: number): void {
    if (this.#waiting.delete(stream)) this.#bytes -= bytes;
  }

  /** Sends everything that waits on its way, in order, while the session takes it. */
  board(session: Session): void {
    for (const stream of [...this.#waiting]) if (!session.closedToNew) stream.board(session);
  }

  /** Nothing will come that takes them: every waiting stream ends. */
  dismiss(cause: CloseCause, error: AnyMuxError | null): void {
    for (const stream of [...this.#waiting]) stream.dismiss(cause, error);
  }
}

/** A stream that no socket has taken yet: its frames wait here. */
export class WaitingStream implements StreamLine {
  readonly id = null;
  readonly unsent = true;
  readonly arrivedBytes = 0;
  core: StreamCore | null = null;
  readonly #unsent: Unsent[] = [];
  #bytes = 0;
  #phase: StreamPhase = 'idle';
  #sealed = false;
  #waiters: (() => void)[] = [];

  constructor(
    private readonly room: WaitingRoom,
    private readonly forgotten: boolean,
  ) {}

  get phase(): StreamPhase {
    return this.#phase;
  }

  get sealed(): boolean {
    return this.#sealed || this.#phase === 'closed';
  }

  get hasRoom(): boolean {
    return this.sealed || this.room.bytes < this.room.limit;
  }

  get overflows(): boolean {
    return this.room.bytes >= this.room.limit && this.#unsent.length > 0;
  }

  whenRoom(task: () => void): void {
    if (this.hasRoom) task();
    else this.#waiters.push(task);
  }

  send(frame: Omit<Frame, 'stream'>, encodedPayload: Message | null): void {
    if (frame.end === true) this.#sealed = true;
    this.#unsent.push({ frame, encodedPayload });
    const bytes = sizeOf(encodedPayload);
    this.#bytes += bytes;
    this.room.charge(bytes);
  }

  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, payload: unknown = null): void {
    this.dismiss({ how: 'reset', by, code, reason, payload });
  }

  keep(): boolean {
    return true;
  }

  read(): void {
    // Nothing arrives before the open has left.
  }

  /** A session takes the stream: it becomes a live one. */
  board(session: Session): void {
    const { core } = this;
    if (core === null || this.#phase === 'closed') return;
    this.room.leave(this, this.#bytes);
    const live: LiveStream = session.open(this.forgotten);
    core.line = live;
    live.sink = core;
    for (const { frame, encodedPayload } of this.#unsent) live.send(frame, encodedPayload);
    for (const task of this.#waiters.splice(0)) live.whenRoom(task);
  }

  dismiss(cause: CloseCause, error: AnyMuxError | null = null): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.room.leave(this, this.#bytes);
    this.#unsent.length = 0;
    this.core?.gone(cause, error);
    for (const task of this.#waiters.splice(0)) task();
  }
}

function sizeOf(encodedPayload: Message | null): number {
  return encodedPayload === null ? LEAST_CHARGE : Math.max(LEAST_CHARGE, encodedLength(encodedPayload));
}
