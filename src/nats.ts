/**
 * A log of JetStream and a bus, for topics over many servers. They need a connection of the package `@nats-io/transport-node`.
 *
 * @example
 * ```ts
 * import { natsBus, natsLog } from 'rxmux/nats';
 * ```
 *
 * @module rxmux/nats
 */
export { natsBus } from './nats/nats-bus.js';
export { natsLog } from './nats/nats-log.js';
export type { NatsLogOptions } from './nats/nats-log.js';
export type { NatsConnection } from './nats/nats-connection.js';
export { VERSION } from './version.js';
