import type { CloseReason } from '../../wire/close-reason.js';

/** What a dial knows of those before it. */
export interface DialContext {
  /** 1, 2, … since the last stable socket. */
  readonly attempt: number;
  /** Sockets that were open before this one. */
  readonly reconnects: number;
  /** Why the last socket ended, or the last dial failed. */
  readonly last: CloseReason | null;
  /** Aborts when this dial is given up. */
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

  // Few look at it, and an abort costs more than the rest of a dial's end.
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
