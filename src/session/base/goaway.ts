import { ResetCode } from '../../wire/reset-code.js';

/** The two goaways of one connection: the one that this side sent, and the one that the remote sent. Neither ever raises its `last_stream`. */
export class GoAway {
  #dispatched = 0;
  #sentLastStream: number | null = null;
  #receivedLastStream: number | null = null;
  #code: ResetCode | null = null;

  /** A handler of the remote's stream `id` begins. */
  dispatched(id: number): void {
    this.#dispatched = Math.max(this.#dispatched, id);
  }

  /** Whether neither side has sent a goaway. */
  get isAbsent(): boolean {
    return this.#sentLastStream === null && this.#receivedLastStream === null;
  }

  /** Whether the remote has sent a goaway. */
  get received(): boolean {
    return this.#receivedLastStream !== null;
  }

  /** The code of the remote's goaway; `null` before the remote has sent one. */
  get receivedCode(): ResetCode | null {
    return this.#code;
  }

  /** Returns the `last_stream` to announce: the highest stream of the remote whose handler was called. */
  announce(): number {
    this.#sentLastStream ??= this.#dispatched;
    return this.#sentLastStream;
  }

  /** Returns whether a stream that the remote opens now is above the announced `last_stream`. */
  refuses(id: number): boolean {
    return this.#sentLastStream !== null && id > this.#sentLastStream;
  }

  /**
   * Takes the remote's `last_stream`. Without one, the remote may have processed every stream of this side. No code means NO_ERROR.
   *
   * @returns this side's highest id that the remote may still answer; `null` if the goaway repeats an earlier one
   */
  receive(lastStream: number | null, code: ResetCode | null): number | null {
    const cut = Math.min(this.#receivedLastStream ?? Infinity, lastStream ?? Infinity);
    const why = code ?? ResetCode.NO_ERROR;
    if (cut === this.#receivedLastStream && why === this.#code) return null;
    this.#code = why;
    return (this.#receivedLastStream = cut);
  }
}
