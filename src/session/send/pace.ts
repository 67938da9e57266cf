import type { Transport } from '../../transport/transport.js';

/** Writing stops while the socket holds so many bytes. */
export const SOCKET_FULL_BYTES = 1024 * 1024;
/** Writing resumes when the socket holds at most so many bytes. */
const SOCKET_ROOM_BYTES = 256 * 1024;
/** One turn of the event loop writes at most so many bytes, so that reading and timers run in between. */
export const TURN_BYTES = 128 * 1024;

/** Limits writing to a socket: to the bytes that the socket takes, and to a share of each turn of the event loop. */
export class Pace {
  #waiting = false;
  #resting = false;
  /** Bytes written since the last wait for a turn. */
  #turnBytes = 0;

  constructor(
    private readonly transport: Transport,
    /** Called when the wait is over. */
    private readonly goOn: () => void,
  ) {}

  get waiting(): boolean {
    return this.#waiting;
  }

  /** Whether the socket takes more, and no wait is under way. Frames that a closing socket does not take stay queued for the next socket. */
  get free(): boolean {
    return !this.#waiting && this.transport.writable && !this.transport.holds(SOCKET_FULL_BYTES);
  }

  /** Whether this turn may write more bytes. */
  get hasShare(): boolean {
    return this.#turnBytes < TURN_BYTES;
  }

  /** Whether only the next turn may pull more. */
  get resting(): boolean {
    return this.#resting;
  }

  wrote(bytes: number): void {
    this.#turnBytes += bytes;
  }

  /**
   * Waits until the socket may be written again. A full socket first drains to {@link SOCKET_ROOM_BYTES}. Otherwise the wait ends at the next
   * turn of the event loop, which has a new share.
   */
  wait(): void {
    const { free } = this;
    this.#waiting = true;
    const task = (): void => {
      this.#waiting = false;
      this.goOn();
    };
    if (!free) this.transport.whenBelow(SOCKET_ROOM_BYTES, task);
    else {
      this.#turnBytes = 0;
      this.transport.turn(task);
    }
  }

  /**
   * Goes on at the next turn of the event loop, with a new share. Until then frames may still leave, because nothing waits before them. If
   * the socket is full, {@link wait}s. Not while {@link resting}.
   */
  rest(): void {
    if (!this.free) {
      this.wait();
      return;
    }
    this.#resting = true;
    this.transport.turn(() => {
      this.#resting = false;
      this.#turnBytes = 0;
      this.goOn();
    });
  }
}
