import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import type { Share } from '../session/base/share.js';
import { runAll } from '../session/base/waiters.js';
import { Backlog } from '../session/send/backlog.js';
import { Bulk } from '../session/send/bulk.js';
import type { MessageForm } from '../session/send/control-frames.js';
import { Pace } from '../session/send/pace.js';
import type { PullHost, Pulls } from '../session/send/pulls.js';
import type { Cut, StreamQueue } from '../session/send/stream-queue.js';
import type { Transport } from '../transport/transport.js';
import { slicerToSend } from '../wire/fragment.js';
import { ABSENT } from '../wire/frame.js';
import type { Frame } from '../wire/frame.js';
import { MIN_CHARGE_BYTES } from '../wire/held-bytes.js';
import type { Limits } from '../wire/limits.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import type { SendPing } from './bulk-window.js';

/** The parts of a session that its scheduler uses. */
export interface SchedulerHost extends MessageForm {
  readonly transport: Transport;
  readonly limits: Limits;
  /** `null`: this connection shares no limits with others. */
  readonly share: Share | null;
  /** Sends the pings that show how many bytes have arrived. */
  readonly transit: { readonly ping: SendPing };
  readonly departures: {
    /** The frame cannot be cut, so it does not leave. */
    unsendable(frame: OutgoingFrame, error: unknown): void;
  };
}

/**
 * The source of the outbound pipeline. It writes control frames first, then one frame or slice of each stream in turn. It cuts a slice only
 * at the slice's turn, so a small request overtakes a big transfer. While the socket has room, the scheduler copies and queues nothing.
 */
export class Scheduler implements PullHost {
  /** The leaving frames and slices, in order. One pipeline subscribes, and writes each frame before `next` returns. */
  readonly slices$: Observable<Frame>;
  /** The waiting frames and tasks. */
  readonly backlog: Backlog;
  /** Holds back the bulk for which the remote has no room yet. */
  readonly bulk: Bulk;
  accepted = 0;
  readonly #pace: Pace;
  #pumping = false;
  #stopped = false;
  #whenFlushed: (() => void)[] = [];
  #pipeline: Subscriber<Frame> | null = null;

  constructor(private readonly host: SchedulerHost) {
    this.backlog = new Backlog(host.limits, host.share);
    this.#pace = new Pace(host.transport, this.pump);
    this.bulk = new Bulk(host.transit.ping, this.pump, this.backlog);
    host.share?.onRoom(() => {
      this.backlog.room?.madeElsewhere();
      this.pump();
    });
    // A Subject would cost more: every frame passes here, to one subscriber.
    this.slices$ = new Observable((pipeline) => {
      this.#pipeline = pipeline;
    });
  }

  /** Queues one whole frame, which takes its turn with other streams. Drops the frame if the pipeline has ended. */
  add(frame: OutgoingFrame): void {
    if (this.#pipeline?.closed !== false) return;
    const stream = frame.stream ?? 0;
    this.accepted++;
    if (this.#isDirect() && !this.bulk.holds(stream) && frame.isSmall) this.#sendDirectly(frame, frame.roughBytes);
    else {
      this.backlog.add(stream, frame);
      this.pump();
    }
  }

  /** Queues a frame that fits one message, ahead of all streams. Drops the frame if the pipeline has ended. */
  addAhead(frame: OutgoingFrame): void {
    if (this.#pipeline?.closed !== false) return;
    if (this.#isDirect()) this.#sendDirectly(frame, 0);
    else {
      this.backlog.addAhead(frame);
      this.pump();
    }
  }

  /** Queues a reset. One that overtakes goes ahead, but with a payload it takes its turn all the same: the payload may need slices. */
  addReset(reset: OutgoingFrame, isAhead: boolean): void {
    if (isAhead && reset.payload === ABSENT) this.addAhead(reset);
    else this.add(reset);
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
    this.pump();
  }

  get hasTurn(): boolean {
    return this.#isDirect() && this.#pace.hasShare && this.host.share?.mustWait() !== true;
  }

  /** A stream has left, and its owner knows its end. Runs the tasks that waited for that. */
  release(stream: number): void {
    this.bulk.window?.release(stream);
    this.backlog.release(stream);
    this.#checkFlushed();
  }

  /** Drops every stream whose open has not left. The stream moves to another socket, or fails. */
  dropUnopened(): void {
    this.backlog.dropUnopened();
    this.backlog.room?.relieve();
    this.#checkFlushed();
  }

  /** Runs `task` once every frame accepted so far has left. A scheduler that stops first never runs `task`. */
  whenFlushed(task: () => void): void {
    if (this.#stopped) return;
    if (this.#isFlushed()) task();
    else this.#whenFlushed.push(task);
  }

  /** Sends one last frame ahead of the queues, and nothing more. Queued frames stay until they are withdrawn or cleared. */
  stop(last: OutgoingFrame | null): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.bulk.window?.stop();
    this.#whenFlushed = [];
    if (last !== null) this.#send(last, 0);
  }

  /** Writes queued frames while the pace allows, then pulls more. */
  readonly pump = (): void => {
    if (this.#pumping || this.#pace.waiting) return;
    this.#pumping = true;
    try {
      while (this.backlog.frames > 0 && !this.#pace.waiting && !this.#stopped) {
        if (!this.#pace.free || !this.#pace.hasShare) this.#pace.wait();
        else if (!this.#step()) break;
      }
    } finally {
      this.#pumping = false;
    }
    this.backlog.room?.relieve();
    if (this.backlog.pulls !== null) this.#pull(this.backlog.pulls);
    this.#checkFlushed();
  };

  #isFlushed(): boolean {
    return this.backlog.frames === 0 && !this.#pumping;
  }

  /** Whether a frame may leave without queueing, because the socket has room and no frame waits before it. */
  #isDirect(): boolean {
    return this.#isFlushed() && !this.#stopped && this.#pace.free;
  }

  readonly #cut: Cut = (frame) =>
    frame.isSmall ? null : (this.host.transport.cut ?? slicerToSend)(frame, this.host.maxFrameBytes, this.host.codec);

  #sendDirectly(frame: OutgoingFrame, bytes: number): void {
    this.host.share?.queued(bytes);
    this.#pumping = true;
    try {
      this.#send(frame, bytes);
    } finally {
      this.#pumping = false;
    }
    this.#pace.wrote(MIN_CHARGE_BYTES + bytes);
    // Hooks of that frame may have queued more frames behind it.
    this.pump();
  }

  #pull(pulls: Pulls): void {
    if (pulls.isPulling || this.#pace.resting || !pulls.any) return;
    const isAnyLeft = pulls.many();
    // With empty queues nothing else waits for the socket, for a turn, or for an answer.
    if (!pulls.any || !this.#isFlushed() || this.#pace.waiting || this.#stopped) return;
    if (isAnyLeft) this.#pace.rest();
    else this.bulk.window?.awaitAnswer();
  }

  /** Sends one frame or slice. Returns `false` if all queued frames are bulk that has to wait. */
  #step(): boolean {
    const { backlog } = this;
    const ahead = backlog.takeAhead();
    if (ahead !== undefined) {
      this.#send(ahead, 0);
      this.#pace.wrote(MIN_CHARGE_BYTES);
      return true;
    }
    for (const [stream, queue] of backlog.queues) {
      if (this.bulk.holds(stream)) continue;
      this.#pace.wrote(this.#stepStream(stream, queue));
      if (backlog.frames > 0) backlog.pulls?.after(stream);
      return true;
    }
    if (backlog.pulls?.one() === true) return true;
    this.bulk.window?.awaitAnswer();
    // The window may have queued a ping.
    return backlog.hasAhead;
  }

  /** Sends the next frame or slice of a stream. Returns its bytes of payload. */
  #stepStream(stream: number, queue: StreamQueue): number {
    const { backlog } = this;
    const before = queue.bytes;
    let slice: Frame;
    try {
      slice = backlog.take(stream, queue, this.#cut);
    } catch (error) {
      backlog.drop(stream);
      this.host.departures.unsendable(queue.front, error);
      return 0;
    }
    const bytes = before - queue.bytes;
    this.#send(slice, bytes);
    backlog.room?.wake(stream);
    backlog.room?.relieve();
    return bytes;
  }

  /** Passes a frame or slice to the pipeline. */
  #send(slice: Frame, bytes: number): void {
    this.bulk.leaving(slice, bytes);
    this.#pipeline?.next(slice);
  }

  #checkFlushed(): void {
    if (this.#whenFlushed.length > 0 && this.#isFlushed()) runAll(this.#whenFlushed.splice(0));
  }
}
