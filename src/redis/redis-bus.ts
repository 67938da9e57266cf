import { Observable } from 'rxjs';
import type { Bus } from '../topics/bus.js';
import { channels, emitJson } from '../topics/channels.js';
import { toJson } from '../topics/json-value.js';
import { another, checkClient, checkReady, command, disconnect, endOf } from './redis-client.js';
import type { RedisClient } from './redis-client.js';
import { explain } from './redis-error.js';

/**
 * Makes a bus over channels of Redis: each value at most once. Values are JSON. The bus has one more connection while a channel is open.
 *
 * `send` rejects, and a channel errors, with a `BrokerError`. While Redis is away, channels stay open and values are lost.
 *
 * @param client connected already
 * @param prefix begins every channel. Default `'rxmux:'`
 *
 * @example
 * ```ts
 * const client = await createClient({ url: 'redis://localhost:6379' }).on('error', console.error).connect();
 * const present = presence(redisBus(client));
 * ```
 */
export function redisBus(client: RedisClient, prefix = 'rxmux:'): Bus {
  checkClient(client);
  return new RedisBus(client, prefix);
}

class RedisBus implements Bus {
  readonly on = channels((channel) => this.#listen(channel));
  /** The connection that listens; `null` while no channel is open. */
  #listener: RedisClient | null = null;
  #connected: Promise<unknown> = Promise.resolve();
  #open = 0;
  /** Settles once Redis sends the values of all channels that were opened so far. */
  #listening: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: RedisClient,
    private readonly prefix: string,
  ) {}

  /** A server hears its own value: its channels are opened first. */
  async send(channel: string, value: unknown): Promise<void> {
    const json = toJson(value);
    try {
      checkReady(this.client);
      await this.#listening;
      await command(this.client, 'PUBLISH', this.prefix + channel, json);
    } catch (error) {
      throw explain(error, nameOf(channel), this.client);
    }
  }

  #listen(channel: string): Observable<unknown> {
    const name = nameOf(channel);
    return new Observable((subscriber) => {
      const listener = this.#acquire();
      const began = this.#connected.then(() =>
        listener.subscribe(this.prefix + channel, (text) => {
          emitJson(subscriber, text, `a value of ${name}`);
        }),
      );
      const fail = (error: unknown): void => {
        subscriber.error(explain(error, name, this.client));
      };
      began.catch(fail);
      subscriber.add(endOf(this.client).subscribe(fail));
      this.#listening = Promise.allSettled([this.#listening, began]);
      return () => {
        this.#release(listener, channel);
      };
    });
  }

  #acquire(): RedisClient {
    this.#open++;
    if (this.#listener !== null) return this.#listener;
    const made = another(this.client);
    this.#listener = made;
    this.#connected = made.connect();
    return made;
  }

  #release(listener: RedisClient, channel: string): void {
    this.#open--;
    if (this.#open === 0) {
      this.#listener = null;
      disconnect(listener);
    } else {
      this.#connected.then(() => listener.unsubscribe(this.prefix + channel)).catch(() => undefined);
    }
  }
}

function nameOf(channel: string): string {
  return `channel '${channel}'`;
}
