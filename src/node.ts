/**
 * Servers over `ws`, and a dialer with headers and TLS.
 *
 * @example
 * ```ts
 * import { connect, serve } from 'rxmux/node';
 * ```
 *
 * @module rxmux/node
 */
import './index.js';

export { connect } from './node/connect.js';
export type { NodeConnectOptions } from './node/connect.js';
export { accept, handleUpgrade } from './node/accept.js';
export type { AcceptOptions, UpgradeOptions } from './node/accept.js';
export type { AcceptedOptions, JudgedOptions } from './acceptor/options.js';
export type { OriginRules, OriginsOf } from './acceptor/origin.js';
export type { PeerServer } from './acceptor/peer-server.js';
export type { RefusalOf } from './acceptor/refusals.js';
export type { HelloLimits } from './peer/hello.js';
export type { MuxServer, Refusal, ServeBase, ServeOptions } from './node/mux-server.js';
export type { ServerNotifyOptions, ServerStats } from './acceptor/peer-server.js';
export type { DeflateOptions } from './transport/ws/deflate.js';
export { refuse } from './node/refusal.js';
export type { UpgradeRefusal, Verdict } from './acceptor/verdict.js';
export { serve } from './node/serve.js';
export type { Origins } from './node/origin.js';
export { Totals } from './acceptor/totals.js';
export type { TotalLimits } from './acceptor/totals.js';
export type { ByteCounts, PeerStats, StreamCounts, Traffic, Usage } from './peer/stats.js';
export type { TrustProxy } from './node/origin.js';
export { VERSION } from './version.js';
