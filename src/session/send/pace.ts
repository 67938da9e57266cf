import type { Transport } from '../../transport/transport.js';

/** Writing stops while the socket holds this many bytes. */
export const SOCKET_FULL_BYTES = 1024 * 1024;
/** Writing goes on when the socket holds at most this many bytes. */
const SOCKET_ROOM_BYTES = 256 * 1024;
/** Bytes that one turn of the event loop writes at most: reading and timers come in between. */
export const TURN_BYTES = 128 * 1024;

/** How fast a socket is written to: what it takes, and a share of each turn of the event loop. */
export class Pace {
  #waiting = false;
  /** Bytes written since there was last a wait for a turn. */
  #turnBytes = 0;

  constructor(
    private readonly transport: Transport,
    /** Called when what was waited for is there. */
    private readonly goOn: () => void,
  ) {}

  get waiting(): boolean {
    return this.#waiting;
  }

  /** Whether the socket takes more, and nothing is waited for. */
  get free(): boolean {
    return !this.#waiting && this.#takesMore();
  }

  /** Whether this turn has a share left. */
  get hasShare(): boolean {
    return this.#turnBytes < TURN_BYTES;
  }

  wrote(bytes: number): void {
    this.#turnBytes += bytes;
  }

  /** Waits until more may be written: until a full socket has drained to {@link SOCKET_ROOM_BYTES}, else for the next turn of the event loop, with a new share. */
  wait(): void {
    this.#waiting = true;
    const task = (): void => {
      this.#waiting = false;
      this.goOn();
    };
    if (!this.#takesMore()) this.transport.whenBelow(SOCKET_ROOM_BYTES, task);
    else {
      this.#turnBytes = 0;
      this.transport.turn(task);
    }
  }

  // What a closing socket does not take stays here, for the next one.
  #takesMore(): boolean {
    return this.transport.writable && !this.transport.holds(SOCKET_FULL_BYTES);
  }
}
