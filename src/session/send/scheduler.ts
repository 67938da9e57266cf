import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import type { Transport } from '../../transport/transport.js';
import type { Frame } from '../../wire/frame.js';
import { Fifo } from '../../wire/fifo.js';
import { MIN_CHARGE_BYTES } from '../../wire/held-bytes.js';
import type { Limits } from '../../wire/limits.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { Slicer } from '../../wire/slicer.js';
import type { Share } from '../base/share.js';
import { Backlog } from './backlog.js';
import { BulkPacing } from './bulk-pacing.js';
import type { SendPing } from './bulk-window.js';
import type { Cut, StreamQueue } from './stream-queue.js';
import { Pace } from './pace.js';
import { Pulls } from './pulls.js';
import { isControl } from '../base/precedence.js';
import { runAll } from '../base/waiters.js';

/** The parts of a session that its scheduler uses. */
export interface SchedulerHost {
  readonly transport: Transport;
  readonly limits: Limits;
  /** `null`: this connection shares no limits with others. */
  readonly share: Share | null;
  /** Sends the pings that show how many bytes have arrived. */
  readonly transit: { readonly ping: SendPing };
  /** Returns the slices of a frame, or `null` if the frame fits one message. */
  cut(frame: OutgoingFrame): Slicer | null;
  /** The frame cannot be cut, so it does not leave. */
  unsendable(frame: OutgoingFrame, error: unknown): void;
}

/**
 * The source of the outbound pipeline. It writes control frames first, then one frame or slice of each stream in turn. It cuts a slice only
 * at the slice's turn, so a small request overtakes a big transfer. While the socket has room, the scheduler copies and queues nothing.
 */
export class Scheduler {
  /** The leaving frames and slices, in order. One pipeline subscribes, and writes each frame before `next` returns. */
  readonly slices$: Observable<Frame>;
  /** The waiting frames and tasks of streams. */
  readonly backlog: Backlog;
  readonly #control = new Fifo<OutgoingFrame>();
  #pumping = false;
  #stopped = false;
  #whenFlushed: (() => void)[] = [];
  readonly #pace: Pace;
  readonly #bulk: BulkPacing;
  readonly #pulls: Pulls;
  #pipeline: Subscriber<Frame> | null = null;
  readonly #cut: Cut = (frame) => this.host.cut(frame);

  constructor(private readonly host: SchedulerHost) {
    this.backlog = new Backlog(host.limits, host.share);
    const pump = (): void => {
      this.#pump();
    };
    this.#pace = new Pace(host.transport, pump);
    this.#bulk = new BulkPacing(host.transit, pump, (stream) => this.backlog.hasMore(stream));
    this.#pulls = new Pulls(this.backlog, this.#bulk);
    host.share?.onRoom(() => {
      this.backlog.roomMade();
      this.#pump();
    });
    // A Subject would cost more: every frame passes here, to one subscriber.
    this.slices$ = new Observable((pipeline) => {
      this.#pipeline = pipeline;
    });
  }

  /** How many frames wait for their turn. A frame that has left in part is one. */
  get frames(): number {
    let frames = this.#control.length;
    for (const [, queue] of this.backlog.queues) frames += queue.frames;
    return frames;
  }

  /** Queues one whole frame. Drops the frame if the pipeline has ended. */
  add(frame: OutgoingFrame): void {
    if (this.#pipeline?.closed !== false) return;
    this.#pulls.use();
    if (!isControl(frame)) this.#addToStream(frame);
    else if (this.#isDirect()) this.#sendDirectly(frame);
    else {
      this.#control.push(frame);
      this.#pump();
    }
  }

  /** Runs `add`, which adds several frames. No frame leaves before the last one is added. */
  batch(add: () => void): void {
    const wasPumping = this.#pumping;
    this.#pumping = true;
    try {
      add();
    } finally {
      this.#pumping = wasPumping;
    }
    this.#pump();
  }

  /** Returns whether to pull a frame from a stream now. The frame leaves at once within this turn's share, or the stream has its turn. */
  hasDemand(stream: number): boolean {
    return this.#pulls.isGranted || (this.#hasTurn() && !this.#bulk.holds(stream) && this.host.share?.mustWait() !== true);
  }

  /** Runs `task` once {@link hasDemand} holds. Waiting streams take turns. */
  whenDemand(stream: number, task: () => void): void {
    this.backlog.whenDemand(stream, task);
    this.#pump();
  }

  /** A stream has left, and its owner knows its end. Runs the tasks that waited for that. */
  release(stream: number): void {
    this.#bulk.release(stream);
    this.backlog.release(stream);
    this.#checkFlushed();
  }

  /** Drops every stream whose open has not left. The stream moves to another socket, or fails. */
  dropUnopened(): void {
    this.backlog.dropUnopened();
    this.backlog.relieve();
    this.#checkFlushed();
  }

  /** Runs `task` once every frame accepted so far has left. A scheduler that stops first never runs `task`. */
  whenFlushed(task: () => void): void {
    if (this.#stopped) return;
    if (this.#isFlushed()) task();
    else this.#whenFlushed.push(task);
  }

  /** Whether the last frame that left was bulk. */
  get isBulk(): boolean {
    return this.#bulk.isBulk;
  }

  /** Sends a ping whose pong shows that all earlier frames have arrived. */
  probe(): void {
    this.#bulk.probe();
  }

  /** Sends one last frame ahead of the queues, and nothing more. Queued frames stay until they are withdrawn or cleared. */
  stop(last: OutgoingFrame | null): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#bulk.stop();
    this.#whenFlushed = [];
    if (last !== null) this.#send(last);
  }

  /** Drops all frames and tasks. */
  clear(): void {
    this.#control.clear();
    this.backlog.clear();
  }

  #isEmpty(): boolean {
    return this.#control.length === 0 && this.backlog.queues.size === 0;
  }

  #isFlushed(): boolean {
    return this.#isEmpty() && !this.#pumping;
  }

  /** Whether a frame may leave without queueing, because the socket has room and no frame waits before it. */
  #isDirect(): boolean {
    return this.#isFlushed() && !this.#stopped && this.#pace.free;
  }

  /** Whether a pulled frame leaves at once, within this turn's share of the event loop. */
  #hasTurn(): boolean {
    return this.#isDirect() && this.#pace.hasShare;
  }

  #addToStream(frame: OutgoingFrame): void {
    const stream = frame.stream ?? 0;
    let slices: Slicer | null = null;
    if (this.#isDirect() && !this.#bulk.holds(stream)) {
      try {
        slices = this.host.cut(frame);
      } catch (error) {
        this.host.unsendable(frame, error);
        return;
      }
      if (slices === null) {
        this.#sendDirectly(frame);
        return;
      }
    }
    this.backlog.add(stream, frame, slices);
    this.#pump();
  }

  #sendDirectly(frame: OutgoingFrame): void {
    const bytes = frame.roughBytes;
    this.host.share?.queued(bytes);
    this.#pumping = true;
    try {
      this.#bulk.leaving(frame, bytes, false);
      this.#send(frame);
    } finally {
      this.#pumping = false;
    }
    this.#pace.wrote(MIN_CHARGE_BYTES + bytes);
    // Hooks of that frame may have queued more frames behind it.
    this.#pump();
  }

  /** Writes queued frames while the pace allows, then pulls more. */
  #pump(): void {
    if (this.#pumping || this.#pace.waiting) return;
    this.#pumping = true;
    try {
      while (!this.#isEmpty() && !this.#pace.waiting && !this.#stopped) {
        if (!this.#pace.free || !this.#pace.hasShare) this.#pace.wait();
        else if (!this.#step()) break;
      }
    } finally {
      this.#pumping = false;
    }
    this.backlog.relieve();
    this.#pull();
    this.#checkFlushed();
  }

  #pull(): void {
    if (this.#pulls.isPulling || this.#pace.resting || !this.backlog.pulled) return;
    const isAnyLeft = this.#pulls.many(() => this.#hasTurn());
    // With empty queues nothing else waits for the socket, for a turn, or for an answer.
    if (!this.backlog.pulled || !this.#isFlushed() || this.#pace.waiting || this.#stopped) return;
    if (isAnyLeft) this.#pace.rest();
    else this.#bulk.awaitAnswer();
  }

  /** Sends one frame or slice. Returns `false` if all queued frames are bulk that has to wait. */
  #step(): boolean {
    const control = this.#control.shift();
    if (control !== undefined) {
      this.#bulk.controlLeaving();
      this.#send(control);
      this.#pace.wrote(MIN_CHARGE_BYTES);
      return true;
    }
    for (const [stream, queue] of this.backlog.queues) {
      if (this.#bulk.holds(stream)) continue;
      this.#pace.wrote(this.#stepStream(stream, queue));
      if (!this.#isEmpty()) this.#pulls.after(stream);
      return true;
    }
    if (this.#pulls.one()) return true;
    this.#bulk.awaitAnswer();
    // The window may have queued a ping.
    return this.#control.length > 0;
  }

  /** Sends the next frame or slice of a stream. Returns its bytes of payload. */
  #stepStream(stream: number, queue: StreamQueue): number {
    const { backlog } = this;
    const before = queue.bytes;
    const wasCutting = queue.cutting;
    let slice: Frame;
    try {
      slice = queue.take(this.#cut);
    } catch (error) {
      backlog.drop(stream);
      this.host.unsendable(queue.front, error);
      return 0;
    }
    const bytes = before - queue.bytes;
    backlog.taken(stream, queue, bytes);
    this.#bulk.leaving(slice, bytes, wasCutting || queue.cutting);
    this.#send(slice);
    backlog.wake(stream);
    backlog.relieve();
    return bytes;
  }

  #send(slice: Frame): void {
    this.#pipeline?.next(slice);
  }

  #checkFlushed(): void {
    if (this.#whenFlushed.length > 0 && this.#isFlushed()) runAll(this.#whenFlushed.splice(0));
  }
}
