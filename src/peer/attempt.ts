import type { CloseReason } from '../wire/close-reason.js';
import type { DialContext } from './hello.js';

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
