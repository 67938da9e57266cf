import type { SliceQueue } from '../operators/fragment.js';
import type { Transport } from '../transport/transport.js';
import type { CompleteFrame, Frame } from '../wire/frame.js';
import { LEAST_CHARGE } from '../wire/held-bytes.js';
import { encodedLength } from '../wire/length.js';
import type { Limits } from '../wire/limits.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import { FIRST_APPLICATION_CODE, ResetCode } from '../wire/reset-code.js';
import type { Slicer } from '../wire/slicer.js';
import { Fifo } from '../wire/fifo.js';

/** The pump stops while the socket holds this much, in bytes, … */
const SOCKET_FULL_BYTES = 1024 * 1024;
/** … and goes on when it holds no more than this. */
const SOCKET_ROOM_BYTES = 256 * 1024;
/** What one turn of the event loop writes, in bytes: reading and timers come in between. */
const TURN_BYTES = 512 * 1024;
/** A stream whose queue is below this takes more without waiting, in bytes. */
const LANE_ROOM_BYTES = 256 * 1024;

/** One stream's frames that have not left yet. */
interface Lane {
  readonly frames: Fifo<Frame>;
  /** The frame at the front, when it is being cut. */
  slices: Slicer | null;
  /** Whether a slice of the frame at the front has left. */
  begun: boolean;
  bytes: number;
  waiters: (() => void)[];
}

/**
 * Two lanes of frames: control first, then one slice of each stream in turn. A slice is cut when its turn comes, so a
 * small request overtakes a big transfer. Nothing is copied and nothing is queued while the socket has room.
 */
export class Scheduler implements SliceQueue {
  readonly #control = new Fifo<Frame>();
  /** In the order of their turns. */
  readonly #lanes = new Map<number, Lane>();
  #bytes = 0;
  #pumping = false;
  #waiting = false;
  #stopped = false;
  #whenIdle: (() => void)[] = [];
  /** Those whose own queue has room, while all queues together are too long. */
  #crowd: (() => void)[] = [];
  #cut: (frame: Frame) => Slicer | null = unstarted;
  #emit: (slice: Frame) => void = unstarted;

  constructor(
    private readonly transport: Transport,
    private readonly limits: Limits,
    /** Told of each frame or slice behind its sending. */
    private readonly onSent: (slice: Frame) => void,
    /** Told whenever the socket is full. */
    private readonly onFull: () => void,
  ) {}

  start(cut: (frame: Frame) => Slicer | null, emit: (slice: Frame) => void): void {
    this.#cut = cut;
    this.#emit = emit;
  }

  /** Control frames that have not left yet. */
  get unsentControl(): number {
    return this.#control.length;
  }

  /** Bytes of payload that have not left yet, on all streams. */
  get unsentBytes(): number {
    return this.#bytes;
  }

  add(frame: CompleteFrame): void {
    if (this.#stopped) return;
    if (!overtakes(frame)) this.#enqueue(frame);
    else if (frame.stream === null || this.drop(frame.stream)) this.#addControl(frame);
  }

  /**
   * Forgets what a stream has not sent yet.
   *
   * @returns `false` when not even the stream's open had left, so that the remote never heard of it
   */
  drop(stream: number): boolean {
    const lane = this.#lanes.get(stream);
    if (lane === undefined) return true;
    this.#remove(stream, lane);
    const unsent = !lane.begun && lane.frames.peek()?.type === 'open';
    this.#wake(lane.waiters);
    this.#checkIdle();
    return !unsent;
  }

  /** Whether `stream` may add more without growing a queue that is already long. */
  hasRoom(stream: number): boolean {
    const lane = this.#lanes.get(stream);
    return (lane === undefined || lane.bytes < LANE_ROOM_BYTES) && this.#bytes < this.limits.sendHighWaterBytes;
  }

  /** Runs `task` once the stream's queue is below 256 KiB and all queues together below `sendHighWaterBytes`. */
  whenRoom(stream: number, task: () => void): void {
    if (this.hasRoom(stream) || this.#stopped) task();
    else (this.#lanes.get(stream)?.waiters ?? this.#crowd).push(task);
  }

  /** Runs `task` once everything accepted so far has left. */
  whenFlushed(task: () => void): void {
    if (this.#idle) task();
    else this.#whenIdle.push(task);
  }

  /** Drops every queue and sends one last frame past the gate. */
  finish(last: Frame | null): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#control.clear();
    for (const stream of [...this.#lanes.keys()]) this.drop(stream);
    if (last !== null) this.#send(last);
    this.#wake(this.#crowd);
    this.#checkIdle();
  }

  get #idle(): boolean {
    return this.#control.length === 0 && this.#lanes.size === 0;
  }

  #addControl(frame: Frame): void {
    if (this.#direct()) {
      this.#sendDirectly(frame);
      return;
    }
    this.#control.push(frame);
    this.#pump();
  }

  #enqueue(frame: CompleteFrame): void {
    const stream = frame.stream ?? 0;
    const lane = this.#lanes.get(stream);
    if (lane !== undefined) {
      this.#append(lane, frame);
      return;
    }
    if (this.#direct() && this.#lanes.size === 0) {
      const slices = this.#cut(frame);
      if (slices === null) this.#sendDirectly(frame);
      else this.#join(stream, frame, slices);
      return;
    }
    this.#join(stream, frame, null);
  }

  #direct(): boolean {
    return !this.#pumping && !this.#waiting && this.#control.length === 0 && this.transport.bufferedAmount < SOCKET_FULL_BYTES;
  }

  #send(slice: Frame): void {
    this.#emit(slice);
    this.onSent(slice);
  }

  #sendDirectly(frame: Frame): void {
    this.#pumping = true;
    try {
      this.#send(frame);
    } finally {
      this.#pumping = false;
    }
    // What the hooks of that frame have sent meanwhile was queued behind it.
    if (!this.#idle) this.#pump();
  }

  #join(stream: number, frame: Frame, slices: Slicer | null): void {
    const lane: Lane = { frames: new Fifo(), slices, begun: false, bytes: 0, waiters: [] };
    this.#lanes.set(stream, lane);
    this.#append(lane, frame);
    this.#pump();
  }

  #append(lane: Lane, frame: Frame): void {
    const size = sizeOf(frame);
    lane.frames.push(frame);
    lane.bytes += size;
    this.#bytes += size;
  }

  readonly #pump = (): void => {
    if (this.#pumping || this.#waiting) return;
    this.#pumping = true;
    let budget = TURN_BYTES;
    try {
      while (!this.#idle && !this.#waiting) {
        if (this.transport.bufferedAmount >= SOCKET_FULL_BYTES) this.#waitForSocket();
        else if (budget <= 0) this.#wait((task) => this.transport.turn(task));
        else budget -= this.#step();
      }
    } finally {
      this.#pumping = false;
    }
    this.#checkIdle();
  };

  #waitForSocket(): void {
    this.#wait((task) => {
      this.transport.whenBelow(SOCKET_ROOM_BYTES, task);
    });
    this.onFull();
  }

  #wait(until: (task: () => void) => void): void {
    this.#waiting = true;
    until(() => {
      this.#waiting = false;
      this.#pump();
    });
  }

  /** Sends one frame or slice; gives the bytes of payload it carried. */
  #step(): number {
    const control = this.#control.shift();
    if (control !== undefined) {
      this.#send(control);
      return LEAST_CHARGE;
    }
    for (const [stream, lane] of this.#lanes) return this.#stepLane(stream, lane);
    return 0;
  }

  #stepLane(stream: number, lane: Lane): number {
    const frame = lane.frames.peek();
    if (frame === undefined) return 0;
    if (!lane.begun) lane.slices ??= this.#cut(frame);
    const slice = lane.slices === null ? frame : lane.slices.next();
    const size = Math.min(lane.bytes, sizeOf(slice));
    lane.begun = true;
    lane.bytes -= size;
    this.#bytes -= size;
    if (lane.slices === null || lane.slices.done) {
      lane.frames.shift();
      lane.slices = null;
      lane.begun = false;
    }
    if (lane.frames.length === 0) {
      this.#remove(stream, lane);
    } else if (this.#lanes.size > 1) {
      this.#lanes.delete(stream);
      this.#lanes.set(stream, lane);
    }
    this.#send(slice);
    if (lane.bytes < LANE_ROOM_BYTES) this.#wake(lane.waiters);
    if (this.#bytes < this.limits.sendHighWaterBytes) this.#wake(this.#crowd);
    return size;
  }

  #remove(stream: number, lane: Lane): void {
    this.#lanes.delete(stream);
    this.#bytes -= lane.bytes;
    lane.bytes = 0;
  }

  #wake(waiters: (() => void)[]): void {
    if (waiters.length === 0) return;
    if (waiters !== this.#crowd && !this.#stopped && this.#bytes >= this.limits.sendHighWaterBytes) this.#crowd.push(...waiters.splice(0));
    else for (const task of waiters.splice(0)) task();
  }

  #checkIdle(): void {
    if (this.#whenIdle.length > 0 && this.#idle) for (const task of this.#whenIdle.splice(0)) task();
  }
}

/** Whether a frame goes ahead of what its stream has queued: the connection's own frames, and resets that destroy no answer. */
function overtakes(frame: CompleteFrame): boolean {
  if (frame.type === 'open' || frame.type === 'data') return false;
  if (frame.type !== 'reset') return true;
  const { code } = frame;
  return code !== ResetCode.APPLICATION_ERROR && code !== ResetCode.NO_ERROR && (code === null || code < FIRST_APPLICATION_CODE);
}

function sizeOf(frame: Frame): number {
  const encoded = frame.fragment ?? OutgoingFrame.encodedPayload(frame);
  return encoded === null ? LEAST_CHARGE : Math.max(LEAST_CHARGE, encodedLength(encoded));
}

function unstarted(): never {
  throw new Error('the scheduler has no output yet');
}
