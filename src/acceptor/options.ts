import { DEFAULT_HELLO_LIMITS, HELLO_TIMEOUT_MS, resolveHelloLimits } from '../peer/hello.js';
import type { AcceptorOptions, HelloLimits } from '../peer/hello.js';
import type { StreamHandler } from '../peer/hooks.js';
import { PEER_OPTIONS, resolveOptions } from '../peer/options.js';
import type { PeerOptions } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { checkFunction, checkNumber, checkOptions, optionError, readOptions } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { checkOrigins } from './origin.js';
import type { OriginsOf } from './origin.js';
import { checkTotals } from './totals.js';
import type { Totals } from './totals.js';
import type { Verdict } from './verdict.js';

/** Options of an accepted peer of a server whose requests are of the type `Q`. */
export interface AcceptedOptions<Q> extends PeerOptions {
  /** Answers the streams that the dialer opens; replaces `onStream`. Default `onStream`. */
  readonly handler?: StreamHandler | undefined;
  /**
   * Answers the dialer's first stream. Until it has replied, other streams are REFUSED and `helloLimits` hold. If it rejects, the peer
   * closes (C12). Default none: no hello is expected.
   */
  readonly onHello?: StreamHandler | undefined;
  /** How long the hello may take to arrive and to be answered, in ms; 0 is no limit. It needs `onHello`. Default 10 000. */
  readonly helloTimeoutMs?: number | undefined;
  /**
   * Bounds what a connection may send until `onHello` has replied; from then on `limits` hold. A hello over `maxPayloadBytes` is reset
   * with PAYLOAD_TOO_LARGE. It needs `onHello`. Default `{ maxPayloadBytes: 65_536, maxPayloadItems: 10_000, maxHeldBytes: 1_048_576 }`.
   */
  readonly helloLimits?: Given<HelloLimits> | undefined;
  /**
   * Receives each peer a turn before the peer begins to read. It decides nothing: an error that it throws is logged, and the peer is
   * served anyway. To refuse a peer, answer an HTTP status from `verify`, or reject in `onHello`. Default none.
   */
  readonly onPeer?: ((peer: Peer, request: Q | null) => void) | undefined;
  /**
   * Counts the peer together with others. An upgrade over a limit answers 503 with `Retry-After: 1`. `accept` refuses no peer, because its
   * socket is open already. Default none.
   */
  readonly totalLimits?: Totals | undefined;
}

/** Options of an upgrade that a server with requests of the type `Q` judges. */
export interface JudgedOptions<Q> extends AcceptedOptions<Q> {
  /**
   * Decides before the upgrade whether a dialer may connect, and may return its `peer.context`. `false` answers 403, 401 answers 401, and
   * `refuse` any other status. A `verify` that throws or rejects answers 500. Default none: every dialer may.
   */
  readonly verify?: ((request: Q) => Verdict | Promise<Verdict>) | undefined;
  /**
   * How long `verify` may take before the answer is 503 with `Retry-After: 1`, in ms; 0 is no limit. A late verdict is dropped.
   * Default 10 000.
   */
  readonly verifyTimeoutMs?: number | undefined;
  /**
   * Chooses the web pages that may connect. Any other page gets 403. A list or a function replaces the default, so name your own pages
   * too. A string must equal the whole origin as browsers send it (`https://app.example.org`, in lower case, without a
   * default port or a slash at the end). A RegExp may match any part of the origin, so anchor it:
   * `/^https:\/\/\w+\.example\.org$/`. A function that throws, or returns no boolean (such as a promise), answers 500; slow decisions
   * belong in `verify`.
   *
   * A request without `Origin` passes a list and the default: browsers always send one, and programs do not. Where a proxy may drop it,
   * `{ required: true }` refuses such a request. `{ required: true, allow: ['https://app.example.org'] }` replaces the default, too.
   *
   * The default admits a page whose own name was pointed at this server (DNS rebinding). A server on loopback or an intranet needs
   * `origins` or `verify`. Default pages of the `Host` that they ask for, and pages on loopback for a server on loopback.
   */
  readonly origins?: OriginsOf<Q> | undefined;
}

/** {@link JudgedOptions} beyond {@link PeerOptions}, checked and with defaults. */
interface UsedOptions<Q> extends Required<Pick<JudgedOptions<Q>, 'handler' | 'onHello' | 'onPeer' | 'verify' | 'origins' | 'totalLimits'>> {
  readonly helloTimeoutMs: number;
  readonly helloLimits: HelloLimits;
  readonly verifyTimeoutMs: number;
}

/** {@link JudgedOptions}, checked and with defaults. */
export interface ResolvedJudged<Q> extends Omit<UsedOptions<Q>, 'handler' | 'onHello' | 'helloTimeoutMs' | 'helloLimits'> {
  readonly acceptor: AcceptorOptions;
}

/** Declares {@link JudgedOptions} beyond {@link PeerOptions}. */
export const JUDGED_OPTIONS: Options<Omit<JudgedOptions<never>, keyof PeerOptions>, UsedOptions<never>> = {
  handler: [checkFunction, undefined],
  onHello: [checkFunction, undefined],
  helloTimeoutMs: [checkNumber, HELLO_TIMEOUT_MS],
  helloLimits: [(_name, given) => resolveHelloLimits(given), DEFAULT_HELLO_LIMITS],
  onPeer: [checkFunction, undefined],
  verify: [checkFunction, undefined],
  verifyTimeoutMs: [checkNumber, 10_000],
  origins: [checkOrigins, undefined],
  totalLimits: [checkTotals, undefined],
};

/**
 * Checks the options of accepted peers and of their upgrades, and fills in defaults.
 *
 * @param others declare options that the caller has read
 * @throws CodecNotRegistered; TypeError naming the option
 */
export function resolveJudged<Q>(options: JudgedOptions<Q>, ...others: readonly object[]): ResolvedJudged<Q> {
  checkOptions(options, ...others, JUDGED_OPTIONS, PEER_OPTIONS);
  const peer = resolveOptions(options, false);
  const used = readOptions(JUDGED_OPTIONS as Options<Omit<JudgedOptions<Q>, keyof PeerOptions>, UsedOptions<Q>>, options);
  if (used.onHello === undefined) refuseGiven(options, ['helloTimeoutMs', 'helloLimits'], ' without onHello');
  const { handler = peer.onStream, onHello, helloTimeoutMs, helloLimits, ...ofUpgrades } = used;
  const hello = onHello === undefined ? null : { handler: onHello, timeoutMs: helloTimeoutMs, limits: helloLimits };
  return { ...ofUpgrades, acceptor: { ...peer, onStream: handler, hello } };
}

/** @throws TypeError for an option of `names` that is given and would have no effect; `why` says so */
export function refuseGiven(options: object, names: readonly string[], why: string): void {
  for (const name of names) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) throw optionError(name, `none${why}`, value);
  }
}
