import { defer, finalize, firstValueFrom, Observable, share, timer } from 'rxjs';
import { log as writeLog } from '../logger.js';
import type { BrokerError } from './broker-error.js';
import { CursorLost } from './cursor-lost.js';
import { toJson } from './json-value.js';
import type { Log, Message, PublishOptions } from './log.js';

/** The work of an adapter at its broker. A cursor names a message that the broker keeps. */
export interface Broker<T> {
  /** The name of the topic in messages of the log. */
  readonly name: string;
  /** Returns the place of the last message. Writes a first message into an empty topic, so that it has a place. */
  head(): Promise<string>;
  /**
   * Reads the messages after a cursor: to the end of the topic, or until `signal` aborts. Throws where it has to begin anew.
   *
   * @param after a client may send any value
   * @throws CursorLost where messages after it are no longer kept
   */
  read(after: string, toEnd: boolean, signal: AbortSignal): AsyncGenerator<Message<T, string>, void>;
  publish(json: string, options: PublishOptions): Promise<string>;
  newer(a: string, b: string): boolean;
  /** Explains an error of the client. */
  explain(error: unknown): BrokerError;
}

/** Between two tries while the broker is away. */
const RETRY_MS = 250;

/**
 * A log over a broker with history. One reader serves all subscribers of the process. It begins at a known message and reads on from its
 * last one, so a lost connection leaves nothing out. While the broker is away, subscribers wait.
 */
export class BrokerLog<T> implements Log<T, string> {
  /** Where the reader of this process began; `null` while it has no subscriber. */
  #begun: Promise<string> | null = null;
  readonly live$: Observable<Message<T, string>>;

  constructor(private readonly broker: Broker<T>) {
    this.live$ = defer(() => this.#follow()).pipe(share());
  }

  newer(a: string, b: string): boolean {
    return this.broker.newer(a, b);
  }

  async head(): Promise<string> {
    await this.#begun;
    return persist(this.broker, () => this.broker.head());
  }

  async *history(cursor: string): AsyncGenerator<Message<T, string>, void> {
    await this.#begun;
    const abort = new AbortController();
    try {
      yield* readOn(this.broker, cursor, true, abort.signal);
    } finally {
      abort.abort();
    }
  }

  async publish(value: T, options: PublishOptions = {}): Promise<string> {
    const json = toJson(value);
    try {
      return await this.broker.publish(json, options);
    } catch (error) {
      throw this.broker.explain(error);
    }
  }

  #follow(): Observable<Message<T, string>> {
    const { broker } = this;
    const abort = new AbortController();
    const begun = persist(broker, () => broker.head(), abort.signal);
    this.#begun = begun;
    return new Observable<Message<T, string>>((subscriber) => {
      const read = async (): Promise<void> => {
        for await (const message of readOn(broker, await begun, false, abort.signal)) subscriber.next(message);
      };
      read().catch((error: unknown) => {
        subscriber.error(error);
      });
    }).pipe(
      finalize(() => {
        this.#begun = null;
        abort.abort();
      }),
    );
  }
}

/** Reads on from the last message wherever the broker was away. */
async function* readOn<T>(broker: Broker<T>, after: string, toEnd: boolean, signal: AbortSignal): AsyncGenerator<Message<T, string>, void> {
  let place = after;
  while (!signal.aborted) {
    try {
      for await (const message of broker.read(place, toEnd, signal)) {
        place = message.cursor;
        away.delete(broker);
        yield message;
      }
      return;
    } catch (error) {
      await waitAfter(broker, error, signal);
    }
  }
}

/** Asks again until the broker answers. */
async function persist<T, R>(broker: Broker<T>, ask: () => Promise<R>, signal?: AbortSignal): Promise<R> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      await waitAfter(broker, error, signal);
    }
  }
}

/** Brokers whose absence the log has shown. */
const away = new WeakSet();

/** Waits for the next try. Throws an error that stays. The log shows the first failure of an outage. */
async function waitAfter(broker: Broker<unknown>, error: unknown, signal: AbortSignal | undefined): Promise<void> {
  if (error instanceof CursorLost) throw error;
  const explained = broker.explain(error);
  if (explained.code !== 'BROKER_AWAY' || signal?.aborted === true) throw explained;
  writeLog(away.has(broker) ? 'debug' : 'warn', explained.message);
  away.add(broker);
  await firstValueFrom(timer(RETRY_MS));
}
