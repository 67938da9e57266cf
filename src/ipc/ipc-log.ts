import { checkNumber, checkOptions } from '../util/check.js';
import { BrokerLog } from '../topics/broker-log.js';
import type { Broker } from '../topics/broker-log.js';
import type { BrokerError } from '../topics/broker-error.js';
import { checkName } from '../topics/bus.js';
import { lossIn, numberOf } from '../topics/cursor.js';
import { checkMaxItemBytes } from '../topics/json-value.js';
import type { Log, Message, PublishOptions, TopicItem } from '../topics/log.js';
import type { MemoryLogOptions } from '../topics/memory.js';
import { hub } from './hub.js';
import type { Topic } from './hub.js';

/**
 * Makes a log for all processes and threads of a program on one machine. The primary process of `node:cluster`, or the main thread, holds
 * it in memory, so call this there too, before it makes workers. One call there is enough for all
 * topics. A program of one process needs no workers.
 *
 * Values are JSON. The log ends with the process that holds it: cursors of before are lost, so clients learn of it. A worker that dies
 * loses nothing of the log. Subscribers wait while the holder is silent. `publish` rejects, and subscribers error, with a `BrokerError`.
 *
 * The first process that uses the log decides about `keep`.
 *
 * @param topic the name of the log in the program.
 * @throws TypeError unless `topic` is a text of 1 to 1 000 bytes, `keep` a number of at least 1, and `maxItemBytes` one above 1024
 *
 * @example
 * ```ts
 * const chat = ipcLog<string>('chat', { keep: 1_000 });
 * if (cluster.isPrimary) cluster.fork();
 * else await chat.publish('hello');
 * ```
 */
export function ipcLog<T>(topic: string, options: MemoryLogOptions = {}): Log<T> {
  checkName('ipcLog', 'a topic', topic);
  checkOptions(options, { keep: true, maxItemBytes: true });
  const { keep, maxItemBytes } = options;
  // JSON carries no infinity to the holder.
  const most = keep === undefined ? keep : Math.min(checkNumber('keep', keep, 1), Number.MAX_SAFE_INTEGER);
  return new BrokerLog(new IpcBroker<T>({ topic, keep: most }), checkMaxItemBytes(maxItemBytes));
}

class IpcBroker<T> implements Broker<T> {
  readonly #hub = hub();
  readonly name: string;

  constructor(private readonly topic: Topic) {
    this.name = `topic '${topic.topic}'`;
  }

  head(): Promise<string> {
    return this.#hub.one({ ...this.topic, op: 'head' }) as Promise<string>;
  }

  async *read(after: string | null, toEnd: boolean, signal: AbortSignal): AsyncGenerator<Message<T, string>, void> {
    try {
      const items = this.#hub.ask({ ...this.topic, op: 'read', after, toEnd }) as AsyncIterable<Item> | Iterable<Item>;
      for await (const { cursor, value } of Symbol.asyncIterator in items ? endedBy(signal, items) : items)
        if (value !== undefined) yield { cursor, value: JSON.parse(value) as T };
    } catch (error) {
      throw lossIn(error) ?? error;
    }
  }

  publish(json: string, { key }: PublishOptions): Promise<string> {
    return this.#hub.one({ ...this.topic, op: 'publish', json, key }) as Promise<string>;
  }

  newer(a: string, b: string): boolean {
    return numberOf(a) > numberOf(b);
  }

  explain(error: unknown): BrokerError {
    return this.#hub.explain(error, this.name);
  }
}

type Item = TopicItem<string>;

/** Ends an iterator when the signal aborts: its next item may never come. */
async function* endedBy<I>(signal: AbortSignal, items: AsyncIterable<I>): AsyncGenerator<I, void> {
  const iterator = items[Symbol.asyncIterator]();
  const end = (): void => void iterator.return?.();
  signal.addEventListener('abort', end);
  try {
    yield* { [Symbol.asyncIterator]: () => iterator };
  } finally {
    // A reader asks again and again in an outage, with one signal.
    signal.removeEventListener('abort', end);
  }
}
