/**
 * A connection over a MessagePort, to a worker, a SharedWorker or an iframe.
 *
 * @example
 * ```ts
 * import { portSocket } from 'rxmux/port';
 * ```
 *
 * @module rxmux/port
 */
export { portSocket } from './transport/port.js';
export type { PortLike } from './transport/port.js';
export type { SocketLike } from './transport/transport.js';
export { VERSION } from './version.js';
