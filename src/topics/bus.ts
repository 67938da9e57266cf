import { Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { getOrMake } from '../wire/get-or-make.js';

/**
 * Carries values to all servers: without history, each at most once. A server that is not connected to the broker misses them.
 */
export interface Bus {
  /** Emits the values of a channel from now on, also of this server. Subscribers of a process share one subscription at the broker. */
  on<T>(channel: string): Observable<T>;
  /** Sends a value to all servers. Resolves once it was passed to the broker. */
  send(channel: string, value: unknown): Promise<void>;
}

/**
 * Makes a bus within this process: the start for one server, and for tests.
 *
 * @example
 * ```ts
 * const bus = memoryBus();
 * bus.on<string>('news').subscribe(console.log);
 * await bus.send('news', 'hello');   // hello
 * ```
 */
export function memoryBus(): Bus {
  const channels = new Map<string, Subject<unknown>>();
  return {
    on: <T>(channel: string) => getOrMake(channels, channel, () => new Subject()) as Observable<unknown> as Observable<T>,
    send: (channel, value) => {
      channels.get(channel)?.next(value);
      return Promise.resolve();
    },
  };
}
