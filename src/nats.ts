export { natsLog } from './nats/nats-log.js';
export type { NatsLogOptions } from './nats/nats-log.js';
export type { NatsConnection } from './nats/nats-connection.js';
export { VERSION } from './version.js';
