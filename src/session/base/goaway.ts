import { ResetCode } from '../../wire/codes.js';

/** The two goaways of one connection: the one that this side sent, and the one that the remote sent. Neither ever raises its `last_stream`. */
export class GoAway {
  /** The code of the remote's goaway; `null` before the remote has sent one. */
  receivedCode: ResetCode | null = null;
  #dispatched = 0;
  /** Above every id before this side has sent a goaway. */
  #sentLastStream = Infinity;
  #receivedLastStream = Infinity;

  /** A handler of the remote's stream `id` begins. */
  dispatched(id: number): void {
    this.#dispatched = Math.max(this.#dispatched, id);
  }

  /** Whether neither side has sent a goaway. */
  get isAbsent(): boolean {
    return this.#sentLastStream === Infinity && this.receivedCode === null;
  }

  /** Returns the `last_stream` to announce: the highest stream of the remote whose handler was called. */
  announce(): number {
    return (this.#sentLastStream = Math.min(this.#sentLastStream, this.#dispatched));
  }

  /** Returns whether a stream that the remote opens now is above the announced `last_stream`. */
  refuses(id: number): boolean {
    return id > this.#sentLastStream;
  }

  /**
   * Takes the remote's `last_stream`. Without one, the remote may have processed every stream of this side. No code means NO_ERROR.
   *
   * @returns this side's highest id that the remote may still answer; `null` if the goaway repeats an earlier one
   */
  receive(lastStream: number | null, code: ResetCode | null): number | null {
    const cut = Math.min(this.#receivedLastStream, lastStream ?? Infinity);
    const why = code ?? ResetCode.NO_ERROR;
    if (cut === this.#receivedLastStream && why === this.receivedCode) return null;
    this.receivedCode = why;
    return (this.#receivedLastStream = cut);
  }
}
