import { LazyMap } from '../../wire/lazy.js';
import { FIRST_APPLICATION_CODE, ResetCode, resetCodeName } from '../../wire/reset-code.js';
import type { CloseCause } from './close-cause.js';

/** Counts frames, bytes and streams over all sockets of one owner. */
export class Tally {
  sentFrames = 0;
  /** Bytes of the sockets that have ended. Each open socket counts its own. */
  sentBytes = 0;
  receivedFrames = 0;
  receivedBytes = 0;
  opened = 0;
  /** How many streams have ended, by cause. */
  readonly causes = new LazyMap<string, number>();

  /** A stream has ended. */
  ended(cause: CloseCause): void {
    const name = cause.how === 'reset' ? `${cause.by} reset ${nameOf(cause.code ?? ResetCode.NO_ERROR)}` : cause.how;
    this.causes.set(name, (this.causes.get(name) ?? 0) + 1);
  }
}

/** A remote chooses its codes, so all codes without a meaning in the protocol share one name. */
function nameOf(code: number): string {
  return code >= 0 && code < FIRST_APPLICATION_CODE ? resetCodeName(code) : 'other';
}
