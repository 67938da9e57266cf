import type { IncomingMessage } from 'node:http';
import type { AcceptorOptions } from '../peer/acceptor.js';
import { DEFAULT_HELLO_LIMITS, resolveHelloLimits } from '../peer/answers/hello-limits.js';
import type { HelloLimits } from '../peer/answers/hello-limits.js';
import { HELLO_TIMEOUT_MS } from '../peer/hello.js';
import type { StreamHandler } from '../peer/hooks.js';
import { PEER_OPTIONS, resolveOptions } from '../peer/options.js';
import type { PeerOptions } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { checkFunction, checkNumber } from '../wire/check.js';
import type { Given } from '../wire/check.js';
import { checkOptions, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { readTrustProxy, trustsNone } from './client-address.js';
import type { TrustProxy, TrustsHop } from './client-address.js';
import { checkOrigins } from './origin.js';
import type { Origins } from './origin.js';
import type { Totals } from './total-limits.js';
import { checkTotals } from './total-limits.js';
import type { Verdict } from './upgrade-policy.js';

/** Options of an accepted peer. */
export interface AcceptOptions extends PeerOptions {
  /** Answers the streams that the dialer opens; replaces `onStream`. Default `onStream`. */
  readonly handler?: StreamHandler | undefined;
  /**
   * Answers the dialer's first stream. Until it has replied, other streams are REFUSED and `helloLimits` hold. If it rejects, the peer
   * closes (C12). Default none: no hello is expected.
   */
  readonly onHello?: StreamHandler | undefined;
  /** How long the hello may take to arrive and to be answered, in ms; 0 is no limit. Default 10 000. */
  readonly helloTimeoutMs?: number | undefined;
  /**
   * Bounds what a connection may send until `onHello` has replied; from then on `limits` hold. A hello over `maxPayloadBytes` is reset
   * with PAYLOAD_TOO_LARGE. Default `{ maxPayloadBytes: 65_536, maxPayloadItems: 10_000, maxHeldBytes: 1_048_576 }`.
   */
  readonly helloLimits?: Given<HelloLimits> | undefined;
  /**
   * Receives each peer a turn before the peer begins to read. It decides nothing: an error that it throws is logged, and the peer is
   * served anyway. To refuse a peer, answer an HTTP status from `verify`, or reject in `onHello`. Default none.
   */
  readonly onPeer?: ((peer: Peer, request: IncomingMessage | null) => void) | undefined;
  /**
   * Counts the peer together with others. An upgrade over a limit answers 503 with `Retry-After: 1`. `accept` refuses no peer, because its
   * socket is open already. Default none.
   */
  readonly totalLimits?: Totals | undefined;
}

/** Options of an upgrade. */
export interface UpgradeOptions extends AcceptOptions {
  /**
   * Decides before the upgrade whether a dialer may connect, and may return its `peer.context`. `false` answers 403, 401 answers 401, and
   * `refuse` any other status. A `verify` that throws or rejects answers 500. Default none: every dialer may.
   */
  readonly verify?: ((request: IncomingMessage) => Verdict | Promise<Verdict>) | undefined;
  /**
   * How long `verify` may take before the answer is 503 with `Retry-After: 1`, in ms; 0 is no limit. A late verdict is dropped.
   * Default 10 000.
   */
  readonly verifyTimeoutMs?: number | undefined;
  /**
   * Chooses the web pages that may connect. Any other page gets 403. A list or a function replaces the default, so name your own pages
   * too. A string must equal the whole origin (`https://app.example.org`, without a slash at the end). A RegExp may match any part of the
   * origin, so anchor it: `/^https:\/\/\w+\.example\.org$/`. A function that throws, or returns no boolean (such as a promise), answers
   * 500; slow decisions belong in `verify`.
   *
   * The default admits a page whose own name was pointed at this server (DNS rebinding). A server on loopback or an intranet needs
   * `origins` or `verify`. Default pages of the `Host` that they ask for, and pages on loopback for a server on loopback.
   */
  readonly origins?: Origins | undefined;
  /**
   * Names the proxies whose `X-Forwarded-For` has the client's address: a count, a list, or a function.
   * It matters for `maxConnectionsPerAddress`. `1` trusts one proxy before this server, and `['10.0.0.0/8', '::1']` trusts proxies at these
   * addresses. A client writes the header itself where it can bypass the proxy. A function that throws, or returns no boolean (such as a promise),
   * answers 500. Default no proxy.
   */
  readonly trustProxy?: TrustProxy | undefined;
}

/** The checked options of an upgrade besides the options of its peer. */
export interface OfUpgrades {
  readonly onPeer: AcceptOptions['onPeer'];
  readonly verify: UpgradeOptions['verify'];
  readonly verifyTimeoutMs: number;
  readonly origins: Origins | undefined;
  readonly totalLimits: Totals | undefined;
  readonly trustProxy: TrustsHop;
}

/** {@link UpgradeOptions} beyond {@link PeerOptions}, checked and with defaults. */
interface UsedUpgradeOptions extends OfUpgrades {
  readonly handler: StreamHandler | undefined;
  readonly onHello: StreamHandler | undefined;
  readonly helloTimeoutMs: number;
  readonly helloLimits: HelloLimits;
}

/** {@link UpgradeOptions}, checked and with defaults. */
export interface ResolvedUpgrade extends OfUpgrades {
  readonly acceptor: AcceptorOptions;
}

/** Declares {@link UpgradeOptions} beyond {@link PeerOptions}. */
export const UPGRADE_OPTIONS: Options<Omit<UpgradeOptions, keyof PeerOptions>, UsedUpgradeOptions> = {
  handler: [checkFunction, undefined],
  onHello: [checkFunction, undefined],
  helloTimeoutMs: [checkNumber, HELLO_TIMEOUT_MS],
  helloLimits: [(_name, given) => resolveHelloLimits(given), DEFAULT_HELLO_LIMITS],
  onPeer: [checkFunction, undefined],
  verify: [checkFunction, undefined],
  verifyTimeoutMs: [checkNumber, 10_000],
  origins: [checkOrigins, undefined],
  totalLimits: [checkTotals, undefined],
  trustProxy: [readTrustProxy, trustsNone],
};

/**
 * Checks the options of one accepted peer, and of its upgrade if there is one, and fills in defaults.
 *
 * @param others declare options that the caller has read
 * @throws CodecNotRegistered; TypeError naming the option
 */
export function resolveAccept(options: UpgradeOptions, ...others: readonly object[]): ResolvedUpgrade {
  checkOptions(options, ...others, UPGRADE_OPTIONS, PEER_OPTIONS);
  const peer = resolveOptions(options, false);
  const { handler = peer.onStream, onHello, helloTimeoutMs, helloLimits, ...ofUpgrades } = readOptions(UPGRADE_OPTIONS, options);
  const hello = onHello === undefined ? null : { handler: onHello, timeoutMs: helloTimeoutMs, limits: helloLimits };
  return { ...ofUpgrades, acceptor: { ...peer, onStream: handler, hello } };
}
