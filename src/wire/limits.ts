import type { Rate } from '../util/time.js';
import { atLeast, checkNumber, checkObject, readObject, readOptions } from '../util/check.js';
import type { Given, Options } from '../util/check.js';

/**
 * The most that a receiver accepts, and that a sender queues. Every limit is this side's own: no peer announces or
 * negotiates one. Sizes are bytes of encoded output, times are ms. Defaults are {@link DEFAULT_LIMITS}.
 */
export interface Limits {
  /** One received WebSocket message; over it the connection closes with 1009. At least 65 536. Default 1 MiB. */
  readonly maxMessageBytes: number;
  /** One payload, reassembled or in one piece; over it the stream is reset with PAYLOAD_TOO_LARGE. Default 16 MiB. */
  readonly maxPayloadBytes: number;
  /**
   * Items of one message or reassembled payload: each scalar, key, array and map is one; under `msgpack`, bytes and a `Date`
   * are three. Over it a message ends the connection, and a reassembled payload its stream, with PROTOCOL_ERROR. An item
   * takes some 64 bytes once decoded, at worst 150, so 16 MiB of empty maps would take 1 GiB. At least 1. Default 1 000 000.
   */
  readonly maxPayloadItems: number;
  /**
   * Unfinished and unread payloads of one connection, and payloads of opens, headers and trailers of streams that are worked on.
   * These are bytes of memory: a decoded payload counts as what it takes there, not as it was encoded. The last three have at
   * least a sixteenth for themselves. The stream that asks for more is reset. Default 64 MiB.
   */
  readonly maxHeldBytes: number;
  /** Fragments in one payload; over it the stream is reset with PROTOCOL_ERROR. Default 16 384. */
  readonly maxFragments: number;
  /** Empty fragments with `more`, per connection; over it the connection ends. Default 100. */
  readonly maxEmptyFragments: number;
  /**
   * How long an unfinished payload waits after its last fragment; over it the stream is reset with DEADLINE_EXCEEDED. Each KiB received
   * for something else excuses a second before it, and a pause of reading does not count. Default 30 000.
   */
  readonly reassemblyTimeoutMs: number;
  /** Live remote-opened streams, and those whose handler has not settled; more are REFUSED. Default 1 000. */
  readonly maxStreams: number;
  /** Resets that arrive before their handler has settled; without tokens new opens are REFUSED. Default 1 000, 100 per second. */
  readonly resets: Rate;
  /** Resets that the remote makes this side send by breaking the rules. Default 1 024, 1 per second. */
  readonly provokedResets: Rate;
  /** Frames that make no sense, each harmless. Default 10 000, 330 per second. */
  readonly junk: Rate;
  /** Pings received; every 256 KiB received earns one more. Default 1 000, 33 per second. */
  readonly pings: Rate;
  /** Control frames caused by the remote and not yet written. Default 1 000. */
  readonly maxControlFrames: number;
  /**
   * Unread payloads of one stream that slow the remote's bulk. 2 MiB more pause the socket, where it can be paused, unless the remote paces
   * its bulk. Default 1 MiB.
   */
  readonly pauseBytes: number;
  /** How long the socket stays paused at most, and how long a reader that takes nothing slows the remote's bulk. Default 5 000. */
  readonly pauseMs: number;
  /** Unread payloads of one stream; over it the stream is reset with FLOW_CONTROL. A remote that paces its bulk may send twice as much. Default 4 MiB. */
  readonly maxUnreadBytes: number;
  /** Queued for sending on all streams; a stream that goes on regardless fails with QueueOverflowError. At least 1. Default 64 MiB. */
  readonly maxUnsentBytes: number;
  /** Bytes waiting in the socket, and queued behind it, from which it counts as stalled when it takes none. Default 1 MiB. */
  readonly stallBytes: number;
  /** How long a stalled socket is given before it is terminated. Default 60 000. */
  readonly stallMs: number;
  /** Queued for sending on all streams; above it `send()` waits. At least 1. Default 16 MiB. */
  readonly sendHighWaterBytes: number;
  /** Opens that wait for a connection; one larger is allowed alone. Default 16 MiB. */
  readonly maxQueuedBytes: number;
}

/** The limits that a decoder may receive. */
export type DecodeLimits = Pick<Limits, 'maxPayloadItems'>;

const MIB = 1024 * 1024;

/** Declares every limit. */
export const LIMITS: Options<Limits, Limits> = {
  maxMessageBytes: [atLeast(65_536), MIB],
  maxPayloadBytes: [checkNumber, 16 * MIB],
  maxPayloadItems: [atLeast(1), 1_000_000],
  maxHeldBytes: [checkNumber, 64 * MIB],
  maxFragments: [checkNumber, 16_384],
  maxEmptyFragments: [checkNumber, 100],
  reassemblyTimeoutMs: [checkNumber, 30_000],
  maxStreams: [checkNumber, 1_000],
  resets: [checkRate, Object.freeze({ burst: 1_000, perSecond: 100 })],
  provokedResets: [checkRate, Object.freeze({ burst: 1_024, perSecond: 1 })],
  junk: [checkRate, Object.freeze({ burst: 10_000, perSecond: 330 })],
  pings: [checkRate, Object.freeze({ burst: 1_000, perSecond: 33 })],
  maxControlFrames: [checkNumber, 1_000],
  pauseBytes: [checkNumber, MIB],
  pauseMs: [checkNumber, 5_000],
  maxUnreadBytes: [checkNumber, 4 * MIB],
  maxUnsentBytes: [atLeast(1), 64 * MIB],
  stallBytes: [checkNumber, MIB],
  stallMs: [checkNumber, 60_000],
  sendHighWaterBytes: [atLeast(1), 16 * MIB],
  maxQueuedBytes: [checkNumber, 16 * MIB],
};

/** The default of every limit. */
export const DEFAULT_LIMITS: Limits = Object.freeze(readOptions(LIMITS, {}));

/**
 * Fills in the defaults, and checks every given limit once.
 *
 * @throws TypeError naming the limit, what it accepts and what it got: an unknown name, or a value that is not a
 *   non-negative number (`Infinity` switches a limit off)
 */
export function resolveLimits(given?: Given<Limits>): Limits {
  return given === undefined ? DEFAULT_LIMITS : readObject('limits', given, LIMITS);
}

function checkRate(name: string, value: Rate): Rate {
  const { burst, perSecond } = checkObject(name, value, '{ burst, perSecond }');
  checkNumber(`${name}.burst`, burst);
  checkNumber(`${name}.perSecond`, perSecond);
  return value;
}
