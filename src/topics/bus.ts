import { Observable, Subject } from 'rxjs';
import type { Subscriber, TeardownLogic } from 'rxjs';
import { optionError } from '../util/check.js';
import { getOrMake } from '../util/collections.js';
import { InOrder } from './in-order.js';
import { toJson } from './json-value.js';

/**
 * Carries values to all servers: without history, each at most once. A server that is not connected to the broker misses them.
 */
export interface Bus {
  /** Emits the values of a channel from now on, also of this server. Subscribers of a process share one subscription at the broker. */
  on<T>(channel: string): Observable<T>;
  /**
   * Sends a value to all servers, as JSON. Resolves once it was passed to the broker.
   *
   * @throws TypeError for a value that JSON does not carry, such as bytes, `NaN` and a Map
   */
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
  // Listeners get a value as it was when it was sent.
  const values = new InOrder<readonly [channel: string, json: string]>(([channel, json]) => {
    channels.get(channel)?.next(JSON.parse(json));
  });
  const listen = (channel: string, subscriber: Subscriber<unknown>): TeardownLogic => {
    const values$ = getOrMake(channels, channel, () => new Subject());
    const listening = values$.subscribe(subscriber);
    return () => {
      listening.unsubscribe();
      if (!values$.observed) channels.delete(channel);
    };
  };
  return {
    on: <T>(channel: string) => new Observable<T>((subscriber) => listen(channel, subscriber)),
    send: (channel, value) =>
      new Promise((resolve) => {
        values.send([channel, toJson(value)]);
        resolve();
      }),
  };
}

/** @throws TypeError unless `bus` is a bus */
export function checkBus(caller: string, bus: unknown): void {
  if (typeof bus !== 'object' || bus === null || !('on' in bus && 'send' in bus)) throw optionError(caller, 'a Bus', bus);
}

/**
 * Returns `name`, the name of a user, a room or a member.
 *
 * @throws TypeError unless it is a text that is not empty
 */
export function checkName(caller: string, what: string, name: unknown): string {
  if (typeof name === 'string' && name !== '') return name;
  throw optionError(caller, `a text for ${what}`, name);
}
