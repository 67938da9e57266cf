import { Observable, share } from 'rxjs';

/** A client of the package `redis`, from version 5 on, as far as topics use it. */
export interface RedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  sendCommand(args: string[], options?: { readonly typeMapping?: object }): Promise<unknown>;
  duplicate(): RedisClient;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'error' | 'end', listener: (error: unknown) => void): unknown;
  off(event: 'end', listener: () => void): unknown;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}

/** Replies have the types of their protocol, though the user may have mapped others. */
const PLAIN = { typeMapping: {} } as const;

export function command(client: RedisClient, ...args: readonly string[]): Promise<unknown> {
  return client.sendCommand([...args], PLAIN);
}

/** Returns another connection like this one: a blocked read, and a subscription, hold up all other commands. */
export function another(client: RedisClient): RedisClient {
  const made = client.duplicate();
  // Each command reports the failure of its connection.
  made.on('error', () => undefined);
  return made;
}

/** Ends a connection at once. Its commands reject. */
export function disconnect(client: RedisClient): void {
  if (client.isOpen) client.destroy();
}

const ends = new WeakMap<RedisClient, Observable<void>>();

/** Emits when the program closes a client, or the client stops to reconnect. All topics share one listener. */
export function endOf(client: RedisClient): Observable<void> {
  const known =
    ends.get(client) ??
    new Observable<void>((subscriber) => {
      const listener = (): void => {
        subscriber.next();
      };
      client.on('end', listener);
      return () => client.off('end', listener);
    }).pipe(share());
  ends.set(client, known);
  return known;
}
