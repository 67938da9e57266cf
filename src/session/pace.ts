import type { Transport } from '../transport/transport.js';

/** Writing stops while the socket holds this much, in bytes, … */
export const SOCKET_FULL_BYTES = 1024 * 1024;
/** … and goes on when it holds no more than this. */
const SOCKET_ROOM_BYTES = 256 * 1024;
/** What one turn of the event loop writes, in bytes: reading and timers come in between. */
export const TURN_BYTES = 128 * 1024;

/** How fast a socket is written to: what it takes, and a share of each turn of the event loop. */
export class Pace {
  #waiting = false;
  /** Bytes written since there was last a wait for a turn. */
  #turnBytes = 0;

  constructor(
    private readonly transport: Transport,
    /** Goes on when what was waited for is there. */
    private readonly writer: { goOn(): void },
  ) {}

  get waiting(): boolean {
    return this.#waiting;
  }

  /** Whether the socket takes more, and nothing is waited for. */
  get free(): boolean {
    return !this.#waiting && this.#takesMore;
  }

  /** Whether this turn has a share left. */
  get hasShare(): boolean {
    return this.#turnBytes < TURN_BYTES;
  }

  wrote(bytes: number): void {
    this.#turnBytes += bytes;
  }

  /** Waits for what is missing to write more, in a turn of its own where nothing is. */
  wait(): void {
    this.#waiting = true;
    const task = (): void => {
      this.#waiting = false;
      this.writer.goOn();
    };
    if (!this.#takesMore) this.transport.whenBelow(SOCKET_ROOM_BYTES, task);
    else {
      this.#turnBytes = 0;
      this.transport.turn(task);
    }
  }

  // What a closing socket does not take stays here, for the next one.
  get #takesMore(): boolean {
    return this.transport.writable && this.transport.bufferedAmount < SOCKET_FULL_BYTES;
  }
}
