/**
 * Peers over the sockets of workerd: of Durable Objects, and of Workers.
 *
 * @example
 * ```ts
 * import { serve } from 'rxmux/workerd';
 * ```
 *
 * @module rxmux/workerd
 */
import './index.js';

export { serve } from './runtimes/workerd.js';
export type { WorkerdMux } from './runtimes/workerd.js';
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
