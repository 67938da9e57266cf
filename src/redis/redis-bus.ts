import { Observable, retry, switchMap, timer } from 'rxjs';
import { Outage } from '../topics/broker-error.js';
import type { BrokerError } from '../topics/broker-error.js';
import { busOver } from '../topics/bus.js';
import type { Bus, BusBroker } from '../topics/bus.js';
import { optionError } from '../util/check.js';
import { checkClient, checkReady, command, connection, SILENCE_MS } from './redis-client.js';
import type { AnyRedis, RedisClient, RedisSentinel } from './redis-client.js';
import { explain } from './redis-error.js';

/**
 * Makes a bus over channels of Redis: each value at most once. Values are JSON. The bus has one more connection while a channel is open.
 *
 * `send` rejects, and a channel errors, with a `BrokerError`. While Redis is away, channels stay open and values are lost.
 *
 * @param client connected already: of one server, or of sentinels
 * @param prefix begins every channel. Default `'rxmux:'`
 * @throws TypeError for another client, such as one of a cluster, and for a prefix that is no text. Also for a channel of more than 1 024
 *   bytes
 *
 * @example
 * ```ts
 * const client = await createClient({ url: 'redis://localhost:6379' }).on('error', console.error).connect();
 * const present = presence(redisBus(client));
 * ```
 */
export function redisBus(client: RedisClient | RedisSentinel, prefix = 'rxmux:'): Bus {
  checkClient(client);
  if (typeof prefix !== 'string') throw optionError('prefix', 'a text', prefix);
  return busOver(new RedisChannels(client, prefix));
}

class RedisChannels implements BusBroker {
  /** The connection that listens, for all channels. */
  readonly #listener$: Observable<AnyRedis>;
  readonly #outage = new Outage();
  /** Settles once Redis sends the values of all channels that were opened so far, has failed to, or was silent for too long. */
  #listening: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: AnyRedis,
    private readonly prefix: string,
  ) {
    this.#listener$ = connection(client);
  }

  explain(error: unknown, name: string): BrokerError {
    return explain(error, name, this.client);
  }

  /** A server hears its own value: its channels are opened first, unless the connection that listens is silent. */
  async send(channel: string, json: string): Promise<void> {
    checkReady(this.client);
    await this.#listening;
    await command(this.client, 'PUBLISH', this.#nameOf(channel), json);
  }

  hear(channel: string, name: string): Observable<string> {
    const opened$ = new Observable<string>((subscriber) => {
      const before = this.#listening;
      this.#listening = new Promise<void>((settle) => {
        const silence = timer(SILENCE_MS).subscribe();
        silence.add(settle);
        const opened = (): void => silence.unsubscribe();
        const texts$ = this.#listener$.pipe(switchMap((listener) => this.#textsOf(listener, channel, opened)));
        subscriber.add(silence);
        subscriber.add(texts$.subscribe(subscriber));
      }).then(() => before);
    });
    return opened$.pipe(retry({ delay: (error: unknown) => this.#waitAfter(error, name) }));
  }

  #textsOf(listener: AnyRedis, channel: string, opened: () => void): Observable<string> {
    const name = this.#nameOf(channel);
    return new Observable((subscriber) => {
      const hear = (text: unknown): void => {
        subscriber.next(String(text));
      };
      listener
        .subscribe(name, hear)
        .then(() => {
          this.#outage.over();
          opened();
        })
        .catch((error: unknown) => {
          subscriber.error(error);
        });
      return () => {
        // By its own function: the channel may have another subscriber by the time Redis answers.
        if (listener.isOpen) listener.unsubscribe(name, hear).catch(() => undefined);
      };
    });
  }

  #waitAfter(error: unknown, name: string): Observable<unknown> {
    const text = this.explain(error, 'the bus hears nothing for now').message;
    return this.#outage.wait(this.explain(error, name), text);
  }

  /** Redis knows names in UTF-8, which would turn each half of a surrogate pair into the same letter. */
  #nameOf(channel: string): string {
    return this.prefix + JSON.stringify(channel).slice(1, -1);
  }
}
