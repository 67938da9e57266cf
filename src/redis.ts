/**
 * A log over a stream of Redis and a bus, for topics over many servers. They need a client of the package `redis`.
 *
 * @example
 * ```ts
 * import { redisBus, redisLog } from 'rxmux/redis';
 * ```
 *
 * @module rxmux/redis
 */
export { redisBus } from './redis/redis-bus.js';
export { redisLog } from './redis/redis-log.js';
export type { RedisLogOptions } from './redis/redis-log.js';
export type { RedisClient, RedisSentinel } from './redis/redis-client.js';
export { VERSION } from './version.js';
