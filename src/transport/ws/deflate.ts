import { checkBoolean, checkNumber, optionError, readObject } from '../../util/check.js';
import type { Given, Options } from '../../util/check.js';

/** How messages are compressed. Each end compresses what it sends by its own settings. */
export interface DeflateOptions {
  /**
   * Whether a message may refer to the messages before it. That is what makes small messages small, since they resemble each other.
   * `false` also asks the other end to compress each message by itself. Default `true`.
   */
  readonly contextTakeover: boolean;
  /**
   * A message of fewer bytes is sent as it is. Default 0; without context takeover 1 024, because a small message alone hardly gets smaller.
   */
  readonly thresholdBytes: number;
  /** Compresses with a memory of 2^`windowBits` bytes of earlier text, from 9 to 15. Smaller takes less memory, and saves less. Default 13. */
  readonly windowBits: number;
}

/** {@link DeflateOptions}, checked and with defaults. */
export interface Deflate extends Omit<DeflateOptions, 'thresholdBytes'> {
  /** `null`: 0, or 1 024 where either end has asked for no context takeover. */
  readonly thresholdBytes: number | null;
}

/** Declares {@link DeflateOptions}. */
export const DEFLATE: Options<DeflateOptions, Deflate> = {
  contextTakeover: [checkBoolean, true],
  thresholdBytes: [checkNumber, null],
  windowBits: [checkWindowBits, 13],
};

const [FEWEST_BITS, MOST_BITS] = [9, 15];

/**
 * Reads the option `perMessageDeflate`.
 *
 * @throws TypeError for a bad setting, or an unknown one
 */
export function readDeflate(name: string, given: boolean | Given<DeflateOptions>): Deflate | null {
  return given === false ? null : readObject(name, given === true ? {} : given, DEFLATE, 'a boolean or an object');
}

function checkWindowBits(name: string, bits: number): number {
  if (Number.isInteger(bits) && bits >= FEWEST_BITS && bits <= MOST_BITS) return bits;
  throw optionError(name, `an integer from ${FEWEST_BITS} to ${MOST_BITS}`, bits);
}
