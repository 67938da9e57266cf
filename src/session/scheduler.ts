import type { SliceQueue } from '../operators/fragment.js';
import type { Transport } from '../transport/transport.js';
import type { Frame } from '../wire/frame.js';
import { Fifo } from '../wire/fifo.js';
import { LEAST_CHARGE } from '../wire/held-bytes.js';
import type { Limits } from '../wire/limits.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import type { Slicer } from '../wire/slicer.js';
import { Backlog } from './backlog.js';
import { encodedPartOf } from './lane.js';
import type { Cut, Lane } from './lane.js';
import { isControl } from './precedence.js';
import { runAll } from './waiters.js';

/** The pump stops while the socket holds this much, in bytes, … */
export const SOCKET_FULL_BYTES = 1024 * 1024;
/** … and goes on when it holds no more than this. */
const SOCKET_ROOM_BYTES = 256 * 1024;
/** What one turn of the event loop writes, in bytes: reading and timers come in between. */
export const TURN_BYTES = 128 * 1024;

/** Who is told what becomes of frames. */
export interface Departures {
  /** A frame or slice has gone down the river, which has written it or failed. */
  sent(slice: Frame): void;
  /** A frame cannot be cut; it does not leave. */
  unsendable(frame: Frame, error: unknown): void;
}

/**
 * Two lanes of frames: control first, then one slice of each stream in turn. A slice is cut when its turn comes, so a
 * small request overtakes a big transfer. Nothing is copied and nothing is queued while the socket has room.
 */
export class Scheduler implements SliceQueue<OutgoingFrame> {
  /** What waits on streams. */
  readonly backlog: Backlog;
  readonly #control = new Fifo<OutgoingFrame>();
  #pumping = false;
  #waiting = false;
  #stopped = false;
  #pulling = false;
  /** Bytes written since the pump last waited for a turn of the event loop. */
  #turnBytes = 0;
  #whenFlushed: (() => void)[] = [];
  #cut: Cut = unstarted;
  #emit: (slice: Frame) => void = unstarted;

  constructor(
    private readonly transport: Transport,
    limits: Limits,
    private readonly departures: Departures,
  ) {
    this.backlog = new Backlog(limits);
  }

  start(cut: Cut, emit: (slice: Frame) => void): void {
    this.#cut = cut;
    this.#emit = emit;
  }

  add(frame: OutgoingFrame): void {
    if (!isControl(frame)) this.#addToLane(frame);
    else if (this.#direct) this.#sendDirectly(frame);
    else {
      this.#control.push(frame);
      this.#pump();
    }
  }

  /** Whether a frame leaves at once, and this turn of the event loop has a share left to ask for one. */
  get idle(): boolean {
    return this.#direct && this.#turnBytes < TURN_BYTES;
  }

  /** Runs `task` once that is so; streams that wait take turns. */
  whenIdle(stream: number, task: () => void): void {
    this.backlog.whenIdle(stream, task);
    this.#pump();
  }

  /** A stream has left and its end has been told: what waited for that goes on. */
  release(stream: number): void {
    this.backlog.release(stream);
    this.#checkFlushed();
  }

  /** Forgets every stream whose open has not left: it goes elsewhere, or nowhere. */
  dropUnopened(): void {
    this.backlog.dropUnopened();
    this.backlog.relieve();
    this.#checkFlushed();
  }

  /** Runs `task` once everything accepted so far has left; never, when the scheduler is stopped first. */
  whenFlushed(task: () => void): void {
    if (this.#stopped) return;
    if (this.#flushed) task();
    else this.#whenFlushed.push(task);
  }

  /** Sends nothing any more, but one last frame past everything. What is queued stays until it is withdrawn or cleared. */
  stop(last: OutgoingFrame | null): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#whenFlushed = [];
    if (last !== null) this.#send(last);
  }

  /** Forgets everything. */
  clear(): void {
    this.#control.clear();
    this.backlog.clear();
  }

  get #empty(): boolean {
    return this.#control.length === 0 && this.backlog.lanes.size === 0;
  }

  get #flushed(): boolean {
    return this.#empty && !this.#pumping;
  }

  /** Whether a frame may leave without being queued: there is room, and nothing is before it. */
  get #direct(): boolean {
    return this.#flushed && !this.#waiting && !this.#stopped && this.transport.bufferedAmount < SOCKET_FULL_BYTES;
  }

  #addToLane(frame: OutgoingFrame): void {
    let slices: Slicer | null = null;
    if (this.#direct) {
      try {
        slices = this.#cut(frame);
      } catch (error) {
        this.departures.unsendable(frame, error);
        return;
      }
      if (slices === null) {
        this.#sendDirectly(frame);
        return;
      }
    }
    this.backlog.add(frame.stream ?? 0, frame, slices);
    this.#pump();
  }

  #sendDirectly(frame: OutgoingFrame): void {
    this.#pumping = true;
    try {
      this.#send(frame);
    } finally {
      this.#pumping = false;
    }
    this.#turnBytes += roughBytesOf(frame);
    // What the hooks of that frame have sent meanwhile was queued behind it.
    this.#pump();
  }

  readonly #pump = (): void => {
    if (this.#pumping || this.#waiting) return;
    this.#pumping = true;
    try {
      while (!this.#empty && !this.#waiting && !this.#stopped) {
        if (this.transport.bufferedAmount >= SOCKET_FULL_BYTES) this.#awaitRoom();
        else if (this.#turnBytes >= TURN_BYTES) this.#awaitTurn();
        else this.#turnBytes += this.#step();
      }
    } finally {
      this.#pumping = false;
    }
    this.backlog.relieve();
    this.#pull();
    this.#checkFlushed();
  };

  #awaitRoom(): void {
    this.#wait((task) => this.transport.whenBelow(SOCKET_ROOM_BYTES, task));
  }

  #awaitTurn(): void {
    this.#turnBytes = 0;
    this.#wait((task) => this.transport.turn(task));
  }

  #pull(): void {
    if (this.#pulling) return;
    this.#pulling = true;
    try {
      while (this.idle && this.backlog.pullNext());
    } finally {
      this.#pulling = false;
    }
    // Nothing is queued, so nothing else waits for the socket, or for a turn.
    if (!this.backlog.pulled || !this.#flushed || this.#waiting || this.#stopped) return;
    if (this.transport.bufferedAmount >= SOCKET_FULL_BYTES) this.#awaitRoom();
    else this.#awaitTurn();
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
    let bytes = 0;
    for (const [stream, lane] of this.backlog.lanes) {
      bytes = this.#stepLane(stream, lane);
      break;
    }
    return bytes;
  }

  #stepLane(stream: number, lane: Lane): number {
    const { backlog } = this;
    const before = lane.bytes;
    let slice: Frame;
    try {
      slice = lane.take(this.#cut);
    } catch (error) {
      backlog.drop(stream);
      this.departures.unsendable(lane.front, error);
      return 0;
    }
    const bytes = before - lane.bytes;
    backlog.taken(stream, lane, bytes);
    this.#send(slice);
    backlog.wake(stream);
    backlog.relieve();
    return bytes;
  }

  #send(slice: Frame): void {
    this.#emit(slice);
    this.departures.sent(slice);
  }

  #checkFlushed(): void {
    if (this.#whenFlushed.length > 0 && this.#flushed) runAll(this.#whenFlushed.splice(0));
  }
}

// Exact enough to share turns by, and text is not measured for it.
function roughBytesOf(frame: OutgoingFrame): number {
  const encoded = encodedPartOf(frame) ?? '';
  return LEAST_CHARGE + (typeof encoded === 'string' ? encoded.length : encoded.byteLength);
}

function unstarted(): never {
  throw new Error('the scheduler has no output yet');
}
