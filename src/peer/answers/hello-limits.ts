import type { SessionLimits } from '../../session/session-options.js';
import { atLeast, checkNumber } from '../../wire/check.js';
import type { Given } from '../../wire/check.js';
import type { Limits } from '../../wire/limits.js';
import { readObject, readOptions } from '../../util/check.js';
import type { Options } from '../../util/check.js';

/**
 * Limits of an acceptor until it has accepted the hello (L7). They have the names and units of {@link Limits}, and are never wider. A
 * breach has the same consequence as under `Limits`, and the reason adds that the hello was not accepted yet. The limits also hold for
 * answers to calls that this side makes before then. Defaults: 64 KiB, 10 000 items, 1 MiB.
 *
 * @example
 * ```ts
 * serve({ port: 8080, onHello, handler, helloLimits: { maxPayloadBytes: 256 * 1024 } });
 * // a hello of 300 KiB is reset with PAYLOAD_TOO_LARGE: … over the limit of 262144 (maxPayloadBytes), before the hello was accepted
 * ```
 */
export type HelloLimits = Pick<Limits, 'maxPayloadBytes' | 'maxPayloadItems' | 'maxHeldBytes'>;

const KIB = 1024;

/** Declares every limit before the hello is accepted. The defaults leave room for one message of an honest sender, and little more. */
const HELLO_LIMITS: Options<HelloLimits, HelloLimits> = {
  maxPayloadBytes: [checkNumber, 64 * KIB],
  maxPayloadItems: [atLeast(1), 10_000],
  maxHeldBytes: [checkNumber, 1024 * KIB],
};

/** The default of every limit before the hello is accepted. */
export const DEFAULT_HELLO_LIMITS: HelloLimits = Object.freeze(readOptions(HELLO_LIMITS, {}));

/**
 * Checks every given limit once, and fills in the defaults.
 *
 * @throws TypeError naming the limit, what it accepts and what it got
 */
export function resolveHelloLimits(given: Given<HelloLimits> = {}): HelloLimits {
  return readObject('helloLimits', given, HELLO_LIMITS);
}

/** The limits of one connection: narrow until its hello is accepted, then the limits of its peer. */
export class WideningLimits {
  /** The current limits. They change once; the session reads them at each use. */
  readonly now: SessionLimits;

  constructor(
    private readonly wide: Limits,
    narrow: HelloLimits,
  ) {
    this.now = {
      ...wide,
      maxPayloadBytes: Math.min(wide.maxPayloadBytes, narrow.maxPayloadBytes),
      maxPayloadItems: Math.min(wide.maxPayloadItems, narrow.maxPayloadItems),
      maxHeldBytes: Math.min(wide.maxHeldBytes, narrow.maxHeldBytes),
      note: ', before the hello was accepted',
    };
  }

  widen(): void {
    Object.assign(this.now, this.wide, { note: undefined });
  }
}
