import { Observable, ReplaySubject, retry, share, switchMap } from 'rxjs';
import { Outage } from '../topics/broker-error.js';
import { channels, checkChannel, emitJson } from '../topics/bus.js';
import type { Bus } from '../topics/bus.js';
import { toJson } from '../topics/json-value.js';
import { checkClient, checkReady, command, connection } from './redis-client.js';
import type { AnyRedis, RedisClient, RedisSentinel } from './redis-client.js';
import { explain } from './redis-error.js';

/**
 * Makes a bus over channels of Redis: each value at most once. Values are JSON. The bus has one more connection while a channel is open.
 *
 * `send` rejects, and a channel errors, with a `BrokerError`. While Redis is away, channels stay open and values are lost.
 *
 * @param client connected already: of one server, or of sentinels
 * @param prefix begins every channel. Default `'rxmux:'`
 * @throws TypeError for another client, such as one of a cluster, and for a channel of more than 1 024 bytes
 *
 * @example
 * ```ts
 * const client = await createClient({ url: 'redis://localhost:6379' }).on('error', console.error).connect();
 * const present = presence(redisBus(client));
 * ```
 */
export function redisBus(client: RedisClient | RedisSentinel, prefix = 'rxmux:'): Bus {
  checkClient(client);
  return new RedisBus(client, prefix);
}

class RedisBus implements Bus {
  readonly on = channels((channel) => this.#listen(channel));
  /** The connection that listens, for all channels. */
  readonly #listener$: Observable<AnyRedis>;
  readonly #outage = new Outage();
  /** Settles once Redis sends the values of all channels that were opened so far, or has failed to. */
  #listening: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: AnyRedis,
    private readonly prefix: string,
  ) {
    this.#listener$ = connection(client).pipe(share({ connector: () => new ReplaySubject(1) }));
  }

  /** A server hears its own value: its channels are opened first. */
  async send(channel: string, value: unknown): Promise<void> {
    const name = this.#nameOf(channel);
    const json = toJson(value);
    try {
      checkReady(this.client);
      await this.#listening;
      await command(this.client, 'PUBLISH', name, json);
    } catch (error) {
      throw explain(error, `channel '${channel}'`, this.client);
    }
  }

  #listen(channel: string): Observable<unknown> {
    const opened$ = new Observable((subscriber) => {
      const before = this.#listening;
      this.#listening = new Promise<void>((settle) => {
        const values$ = this.#listener$.pipe(switchMap((listener) => this.#hear(listener, channel, settle)));
        subscriber.add(settle);
        subscriber.add(values$.subscribe(subscriber));
      }).then(() => before);
    });
    return opened$.pipe(retry({ delay: (error: unknown) => this.#waitAfter(error, channel) }));
  }

  #hear(listener: AnyRedis, channel: string, opened: () => void): Observable<unknown> {
    const name = this.#nameOf(channel);
    return new Observable((subscriber) => {
      const hear = (text: unknown): void => {
        emitJson(subscriber, String(text), `a value of channel '${channel}'`);
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

  #waitAfter(error: unknown, channel: string): Observable<unknown> {
    const text = explain(error, 'the bus hears nothing for now', this.client).message;
    return this.#outage.wait(explain(error, `channel '${channel}'`, this.client), text);
  }

  /** Redis knows names in UTF-8, which would turn each half of a surrogate pair into the same letter. */
  #nameOf(channel: string): string {
    return this.prefix + JSON.stringify(checkChannel(channel)).slice(1, -1);
  }
}
