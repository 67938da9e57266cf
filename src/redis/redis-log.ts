import { BrokerLog } from '../topics/broker-log.js';
import { checkMaxItemBytes } from '../topics/json-value.js';
import type { Log } from '../topics/log.js';
import { checkOptions, optionError } from '../util/check.js';
import { RedisBroker } from './redis-broker.js';
import { checkClient } from './redis-client.js';
import type { RedisClient, RedisSentinel } from './redis-client.js';

/** Where a log lies in Redis. */
export interface RedisLogOptions {
  /** The key of the stream: the topic. */
  readonly stream: string;
  /** At least this many messages are kept, as the history, and up to 100 more by the settings of Redis. An integer. Default 10 000. */
  readonly keep?: number | undefined;
  /** The most bytes of a value with its cursor. A larger one is refused. Default 16 MiB, the `maxPayloadBytes` of a client. */
  readonly maxItemBytes?: number | undefined;
}

/**
 * Makes a log over a stream of Redis, from version 6.2 on. The process has one more connection for all subscribers of the log.
 *
 * Values are JSON. The same `key` within two minutes is one message, as long as that is kept. An empty stream gets one first message
 * without a value. A cursor is lost once the stream no longer has its message. Cursors do not name their stream: one of another stream is
 * taken for a place of this one if both have a message of that millisecond.
 *
 * Subscribers wait while the broker is away. `publish` rejects, and subscribers error, with a `BrokerError`.
 *
 * @param client connected already: of one server, or of sentinels
 * @throws TypeError for another client, such as one of a cluster; unless `stream` is a text and `keep` an integer of at least 1; and for a
 *   `maxItemBytes` up to 1024
 *
 * @example
 * ```ts
 * const client = await createClient({ url: 'redis://localhost:6379' }).on('error', console.error).connect();
 * const prices = redisLog<Price>(client, { stream: 'prices' });
 * await prices.publish({ symbol: 'ACME', price: 12.5 }, { key: 'trade-17' });   // '1764230400000-0'
 * ```
 */
export function redisLog<T>(client: RedisClient | RedisSentinel, options: RedisLogOptions): Log<T> {
  checkClient(client);
  checkOptions(options, { stream: true, keep: true, maxItemBytes: true });
  const { stream, keep = 10_000, maxItemBytes } = options;
  if (typeof stream !== 'string' || stream === '') throw optionError('stream', 'a key', stream);
  return new BrokerLog(new RedisBroker<T>(client, stream, checkKeep(keep)), checkMaxItemBytes(maxItemBytes));
}

function checkKeep(keep: unknown): number {
  if (Number.isSafeInteger(keep) && Number(keep) >= 1) return Number(keep);
  throw optionError('keep', 'an integer of at least 1', keep);
}
