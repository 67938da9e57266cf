import type { CloseReason } from '../../wire/close-reason.js';

/** A dial, and the history of the dials before it. */
export interface DialContext {
  /** 1, 2, … since the last stable socket. */
  readonly attempt: number;
  /** The number of sockets that were open before this dial. */
  readonly reconnects: number;
  /** Why the last socket ended, or the last dial failed. */
  readonly last: CloseReason | null;
  /** Aborts when the peer abandons this dial. */
  readonly signal: AbortSignal;
}

/** One dial, up to the answer to its hello. */
export class Attempt implements DialContext {
  #controller: AbortController | null = null;
  #givenUp = false;

  constructor(
    readonly attempt: number,
    readonly reconnects: number,
    readonly last: CloseReason | null,
  ) {}

  // Create the controller only on demand: few callers use the signal, and an abort costs more than the rest of a dial's end.
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#givenUp) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  get givenUp(): boolean {
    return this.#givenUp;
  }

  giveUp(): void {
    this.#givenUp = true;
    this.#controller?.abort();
  }
}
