import { Observable, share } from 'rxjs';
import { optionError } from '../util/check.js';
import { getOrMake } from '../util/collections.js';

/** A client of the package `redis`, from version 5 on, as far as topics use it. */
export interface RedisClient {
  /** Whether the program has not closed the client. */
  readonly isOpen: boolean;
  /** Whether the client is connected. */
  readonly isReady: boolean;
  /** Sends a command. Rejects with the error of the server, or when the connection is lost. */
  sendCommand(args: string[], options?: { readonly typeMapping?: object }): Promise<unknown>;
  /** The options of the client. */
  readonly options?: { readonly socket?: object | undefined } | undefined;
  /** Makes a client with the same options, except for those given, not connected yet. */
  duplicate(overrides?: { readonly socket: object }): RedisClient;
  /** Connects the client. Resolves once it is connected. */
  connect(): Promise<unknown>;
  /** Closes the client at once. Its commands reject. */
  destroy(): void;
  /** Adds a listener of errors, or of the end of the client. */
  on(event: 'error' | 'end', listener: (error: unknown) => void): unknown;
  /** Removes a listener of the end. */
  off(event: 'end', listener: () => void): unknown;
  /** Listens to a channel. The client subscribes again after it has reconnected. */
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  /** Stops listening to a channel. */
  unsubscribe(channel: string): Promise<unknown>;
}

/** Replies have the types of their protocol, though the user may have mapped others. */
const PLAIN = { typeMapping: {} } as const;

/** @throws TypeError unless `client` is one of the package `redis` */
export function checkClient(client: unknown): void {
  if (typeof client === 'object' && client !== null && 'isReady' in client && 'duplicate' in client) return;
  throw optionError('client', 'a client of the package redis', client);
}

/** @throws Error for a client that is not connected: it would keep commands in memory */
export function checkReady(client: RedisClient): void {
  if (!client.isReady) throw new Error('the client is not connected');
}

/** Sends a command to a client that is connected. */
export async function command(client: RedisClient, ...args: readonly string[]): Promise<unknown> {
  checkReady(client);
  return client.sendCommand([...args], PLAIN);
}

/**
 * Returns another connection like this one: a blocked read, and a subscription, hold up all other commands. Both are silent for long, so
 * the client must not end the connection after its `socketTimeout`.
 */
export function another(client: RedisClient): RedisClient {
  const made = client.duplicate({ socket: { ...client.options?.socket, socketTimeout: 0 } });
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
  return getOrMake(ends, client, () =>
    new Observable<void>((subscriber) => {
      const listener = (): void => {
        subscriber.next();
      };
      client.on('end', listener);
      return () => client.off('end', listener);
    }).pipe(share()),
  );
}
