/**
 * Peers over the sockets of crossws, which Nitro and H3 use.
 *
 * @example
 * ```ts
 * import { serve } from 'rxmux/crossws';
 * ```
 *
 * @module rxmux/crossws
 */
import './index.js';

export { serve } from './runtimes/crossws.js';
export type { CrosswsHooks, CrosswsMessage, CrosswsMux, CrosswsPeer } from './runtimes/crossws.js';
export { refuse } from './runtimes/requests.js';
export type { ServeOptions } from './runtimes/requests.js';
export type { AcceptedOptions, JudgedOptions } from './acceptor/options.js';
export type { OriginRules, OriginsOf } from './acceptor/origin.js';
export type { PeerServer, ServerNotifyOptions, ServerStats } from './acceptor/peer-server.js';
export type { RefusalOf } from './acceptor/refusals.js';
export { Totals } from './acceptor/totals.js';
export type { TotalLimits } from './acceptor/totals.js';
export type { UpgradeRefusal, Verdict } from './acceptor/verdict.js';
export type { HelloLimits } from './peer/hello.js';
export { VERSION } from './version.js';
