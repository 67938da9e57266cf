import { ResetCode } from '../../wire/reset-code.js';

/** The two goaways of one connection: what this side has announced, and what the remote has. A cut is never raised. */
export class GoAway {
  #dispatched = 0;
  #sentLastStream: number | null = null;
  #receivedLastStream: number | null = null;
  #code: ResetCode | null = null;

  /** A handler of the remote's stream `id` begins. */
  dispatched(id: number): void {
    this.#dispatched = Math.max(this.#dispatched, id);
  }

  /** Whether this side has sent a goaway. */
  get sent(): boolean {
    return this.#sentLastStream !== null;
  }

  /** Whether the remote has sent a goaway. */
  get received(): boolean {
    return this.#receivedLastStream !== null;
  }

  /** The code of the remote's goaway, `null` before there is one. */
  get receivedCode(): ResetCode | null {
    return this.#code;
  }

  /** The `last_stream` to announce: the highest stream of the remote whose handler was invoked. */
  announce(): number {
    this.#sentLastStream ??= this.#dispatched;
    return this.#sentLastStream;
  }

  /** Whether a stream that the remote opens now is above what was announced. */
  refuses(id: number): boolean {
    return this.#sentLastStream !== null && id > this.#sentLastStream;
  }

  /**
   * Takes the remote's `last_stream`; without one, everything this side has opened may have been processed. No code is NO_ERROR.
   *
   * @returns the highest of this side's ids that the remote may still answer; `null` for what was said before
   */
  receive(lastStream: number | null, code: ResetCode | null): number | null {
    const cut = Math.min(this.#receivedLastStream ?? Infinity, lastStream ?? Infinity);
    const why = code ?? ResetCode.NO_ERROR;
    if (cut === this.#receivedLastStream && why === this.#code) return null;
    this.#code = why;
    return (this.#receivedLastStream = cut);
  }
}
