import { LazyMap } from '../../util/collections.js';
import { FIRST_APPLICATION_CODE, ResetCode, resetCodeName } from '../../wire/codes.js';
import type { CloseCause } from './close-cause.js';

/** Counts frames, bytes and streams over all sockets of one owner. */
export class Tally {
  sentFrames = 0;
  /** Bytes of the sockets that have ended. Each open socket counts its own. */
  sentBytes = 0;
  receivedFrames = 0;
  receivedBytes = 0;
  opened = 0;
  /** How many streams have ended on both sides. Most streams do, and a Map takes some 200 bytes. */
  #ended = 0;
  /** How many streams have ended by another cause. */
  readonly #others = new LazyMap<string, number>();

  /** How many streams have ended, by cause. */
  get causes(): Record<string, number> {
    const others = Object.fromEntries(this.#others);
    return this.#ended === 0 ? others : { ended: this.#ended, ...others };
  }

  /** A stream has ended. */
  ended(cause: CloseCause): void {
    if (cause.how === 'ended') this.#ended++;
    else {
      const name = cause.how === 'reset' ? `${cause.by} reset ${nameOf(cause.code ?? ResetCode.NO_ERROR)}` : cause.how;
      this.#others.set(name, (this.#others.get(name) ?? 0) + 1);
    }
  }
}

/** A remote chooses its codes, so all codes without a meaning in the protocol share one name. */
function nameOf(code: number): string {
  return code >= 0 && code < FIRST_APPLICATION_CODE ? resetCodeName(code) : 'other';
}
