import { BrokerLog } from '../topics/broker-log.js';
import { checkBytes } from '../topics/bus.js';
import type { Log } from '../topics/log.js';
import { optionError } from '../util/check.js';
import { checkOptions } from '../util/check.js';
import { NatsBroker } from './nats-broker.js';
import { checkSubject } from './nats-connection.js';
import type { NatsConnection } from './nats-connection.js';

/** Where a log lies in JetStream. */
export interface NatsLogOptions {
  /** The stream that keeps the messages. It exists already, and its limits are the history. */
  readonly stream: string;
  /** One subject of that stream: the topic. Without wildcards and empty tokens, at most 1 024 bytes. */
  readonly subject: string;
}

/**
 * Makes a log over a subject of a JetStream stream, from NATS 2.9 on. The process has one consumer for all subscribers of the log.
 *
 * Values are JSON. `publish` sends its `key` as `Nats-Msg-Id`, so the same key within the `duplicate_window` of the stream is one message.
 * An empty subject gets one first message without a value. A cursor is lost once the stream no longer has its message.
 *
 * Subscribers wait while the broker is away. `publish` rejects, and subscribers error, with a `BrokerError`.
 *
 * @param nc connected already, with `maxReconnectAttempts: -1`
 * @throws TypeError for another connection, and unless `stream` and `subject` are names without wildcards. The stream has at most 255 bytes,
 *   and the subject 1 024
 *
 * @example
 * ```ts
 * const nc = await connect({ servers: 'nats://localhost:4222', maxReconnectAttempts: -1 });
 * const prices = natsLog<Price>(nc, { stream: 'TOPICS', subject: 'topics.prices' });
 * await prices.publish({ symbol: 'ACME', price: 12.5 }, { key: 'trade-17' });   // '1042:x3f9a1'
 * ```
 */
export function natsLog<T>(nc: NatsConnection, options: NatsLogOptions): Log<T, string> {
  checkOptions(options, { stream: true, subject: true });
  const { stream, subject } = options;
  return new BrokerLog(new NatsBroker<T>(nc, checkStream(stream), checkSubject('subject', subject, 1_024)));
}

/** @throws TypeError for a text that JetStream takes for no name, or that is longer than a line of the server has room for */
function checkStream(stream: unknown): string {
  if (typeof stream === 'string') checkBytes('stream', 'a name', stream, 255);
  if (typeof stream === 'string' && /^[^\s*>./\\]+$/.test(stream)) return stream;
  throw optionError('stream', 'a name without dots, wildcards and spaces', stream);
}
