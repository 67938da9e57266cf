import type { Agent, OutgoingHttpHeaders } from 'node:http';
import type { ConnectionOptions } from 'node:tls';
import { refuseGiven } from '../acceptor/options.js';
import { CONNECT_OPTIONS, connectOver } from '../peer/connect.js';
import type { ConnectOptions } from '../peer/connect.js';
import type { ConnectUrl } from '../peer/dial/dialer.js';
import { PEER_OPTIONS } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { readDeflate } from '../transport/ws/deflate.js';
import type { Deflate, DeflateOptions } from '../transport/ws/deflate.js';
import { dialWs, transportOf } from '../transport/ws/ws.js';
import { checkObject, checkOptions, markHandled, readOptions } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { boundNodeLogs } from './log.js';
import { headerLines } from './refusal.js';

boundNodeLogs();

/** Options of `connect` of Node. The option `socket`, which makes the socket itself, takes none of the options here beside it. */
export interface NodeConnectOptions extends ConnectOptions {
  /** HTTP headers of the handshake. Default none. */
  readonly headers?: OutgoingHttpHeaders | undefined;
  /** Makes the TCP or TLS connection, through a proxy for example. Default none: each peer makes its own connection. */
  readonly agent?: Agent | undefined;
  /** TLS options of a `wss:` address, such as `ca`, or `cert` and `key` of a client. Default Node's own. */
  readonly tls?: ConnectionOptions | undefined;
  /**
   * Offers permessage-deflate (RFC 7692), and compresses what this side sends if the server accepts. `true` takes the defaults of
   * {@link DeflateOptions}. Limits hold for inflated bytes. Do not use it where a secret and text of an attacker share a
   * connection. Default `false`: nothing is compressed.
   */
  readonly perMessageDeflate?: boolean | Given<DeflateOptions> | undefined;
}

/** {@link NodeConnectOptions} beyond {@link ConnectOptions}, checked and with defaults. */
interface UsedConnectOptions extends Required<Pick<NodeConnectOptions, 'headers' | 'agent' | 'tls'>> {
  readonly perMessageDeflate: Deflate | null;
}

/** Declares {@link NodeConnectOptions} beyond {@link ConnectOptions}. */
export const NODE_CONNECT_OPTIONS: Options<Omit<NodeConnectOptions, keyof ConnectOptions>, UsedConnectOptions> = {
  headers: [checkHeaders, undefined],
  agent: [checkObject, undefined],
  tls: [checkObject, undefined],
  perMessageDeflate: [readDeflate, null],
};

/**
 * Dials a server over `ws`, and returns the peer at once. It has all that the browser's `connect` has, and five things more: HTTP
 * headers, an agent, TLS options, compression, and the HTTP status of a refused handshake. For back-pressure it pauses the socket.
 *
 * @throws CodecNotRegistered when the options name no codec and the configured one is not registered; TypeError for a bad option, and
 *   for an address that cannot be dialed
 *
 * @example
 * ```ts
 * const peer = connect('wss://example.org/mux', { headers: { authorization: `Bearer ${token}` } });
 * await peer.opened;
 * ```
 */
export function connect(url: ConnectUrl, options: NodeConnectOptions = {}): Peer {
  checkOptions(options, NODE_CONNECT_OPTIONS, CONNECT_OPTIONS, PEER_OPTIONS);
  const { socket } = options;
  if (socket !== undefined) refuseGiven(options, Object.keys(NODE_CONNECT_OPTIONS), ' beside socket');
  const { perMessageDeflate: deflate, ...own } = readOptions(NODE_CONNECT_OPTIONS, options);
  return connectOver(url, options, (address, protocol, maxPayload) =>
    socket === undefined ? dialWs(address, protocol, { ...own, deflate, maxPayload }) : transportOf(markHandled(socket(address, protocol))),
  );
}

function checkHeaders(name: string, headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  headerLines(name, headers);
  return headers;
}
