import { BrokerLog } from '../topics/broker-log.js';
import { checkBytes } from '../topics/bus.js';
import { checkMaxItemBytes } from '../topics/json-value.js';
import type { Log } from '../topics/log.js';
import { checkOptions, optionError } from '../util/check.js';
import { NatsBroker } from './nats-broker.js';
import { checkSubject } from './nats-connection.js';
import type { NatsConnection } from './nats-connection.js';

/** Where a log lies in JetStream. */
export interface NatsLogOptions {
  /** The stream that keeps the messages. It exists already, and its limits are the history. */
  readonly stream: string;
  /** One subject of that stream: the topic. Without wildcards and empty tokens, at most 1 024 bytes. */
  readonly subject: string;
  /**
   * The most bytes of a value with its cursor. A larger one is refused. Default 16 MiB, the `maxPayloadBytes` of a client. The server takes
   * 1 MB by default (`max_payload`).
   */
  readonly maxItemBytes?: number | undefined;
}

/**
 * Makes a log over a subject of a JetStream stream, from NATS 2.9 on. The process has one consumer for all subscribers of the log.
 *
 * Values are JSON. `publish` sends its subject and `key` as `Nats-Msg-Id`. The same key of a subject within the `duplicate_window` of the
 * stream is one message, as long as that is kept. `publish` then asks the stream for the time of the message, which the cursor holds.
 *
 * An empty subject gets one first message without a value. A cursor is lost once the stream no longer has its message.
 *
 * Subscribers wait while the broker is away. `publish` rejects, and subscribers error, with a `BrokerError`. They also error for a stream of
 * several subjects with `max_msgs_per_subject: 1`, where no follower could notice a lost message.
 *
 * @param nc connected already, with `maxReconnectAttempts: -1`
 * @throws TypeError for another connection, and unless `stream` and `subject` are names without wildcards. A stream has at most 255 bytes,
 *   a subject 1 024. Also for a `maxItemBytes` up to 1 024
 *
 * @example
 * ```ts
 * const nc = await connect({ servers: 'nats://localhost:4222', maxReconnectAttempts: -1 });
 * const prices = natsLog<Price>(nc, { stream: 'TOPICS', subject: 'topics.prices' });
 * await prices.publish({ symbol: 'ACME', price: 12.5 }, { key: 'trade-17' });   // '1042:x3f9a1'
 * ```
 */
export function natsLog<T>(nc: NatsConnection, options: NatsLogOptions): Log<T> {
  checkOptions(options, { stream: true, subject: true, maxItemBytes: true });
  const { stream, subject, maxItemBytes } = options;
  const broker = new NatsBroker<T>(nc, checkStream(stream), checkSubject('subject', subject, 1_024));
  return new BrokerLog(broker, checkMaxItemBytes(maxItemBytes));
}

/** @throws TypeError for a text that JetStream takes for no name, or that is longer than a line of the server has room for */
function checkStream(stream: unknown): string {
  if (typeof stream === 'string') checkBytes('stream', 'a name', stream, 255);
  if (typeof stream === 'string' && /^[^\s*>./\\]+$/.test(stream)) return stream;
  throw optionError('stream', 'a name without dots, wildcards and spaces', stream);
}
