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
export type { AcceptOptions, UpgradeOptions } from './node/accept-options.js';
export type { HelloLimits } from './peer/answers/hello-limits.js';
export type { MuxServer, Refusal, ServeBase, ServeOptions, ServerNotifyOptions } from './node/mux-server.js';
export { refuse } from './node/refuse.js';
export type { UpgradeRefusal } from './node/refuse.js';
export { serve } from './node/serve.js';
export type { Origins } from './node/origin.js';
export type { ServerStats } from './node/server-stats.js';
export { Totals } from './node/total-limits.js';
export type { TotalLimits } from './node/total-limits.js';
export type { ByteCounts, PeerStats, StreamCounts, Traffic, Usage } from './peer/stats.js';
export type { TrustProxy } from './node/client-address.js';
export type { Verdict } from './node/upgrade-policy.js';
export { VERSION } from './version.js';
