/**
 * A log of JetStream, for topics over many servers. It needs a connection of the package `@nats-io/transport-node`.
 *
 * @example
 * ```ts
 * import { natsLog } from 'rxmux/nats';
 * ```
 *
 * @module rxmux/nats
 */
export { natsLog } from './nats/nats-log.js';
export type { NatsLogOptions } from './nats/nats-log.js';
export type { NatsConnection } from './nats/nats-connection.js';
export { VERSION } from './version.js';
