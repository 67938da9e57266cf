import { firstValueFrom, from, Observable, ReplaySubject, share, timeout } from 'rxjs';
import { optionError } from '../util/check.js';
import { getOrMake } from '../util/collections.js';

/** Common members of the clients for one server and for sentinels. */
interface CommonClient {
  /** Whether the program has not closed the client. */
  readonly isOpen: boolean;
  /** Whether the client is connected. */
  readonly isReady: boolean;
  /** Connects the client. Resolves once it is connected. */
  connect(): Promise<unknown>;
  /** Closes the client at once. Its commands reject. */
  destroy(): unknown;
  /** Adds a listener of errors, of the end of the client, or of its socket. */
  on(event: 'error' | 'end' | 'connect', listener: (error: unknown) => void): unknown;
  /** Removes a listener of the end. */
  off(event: 'end', listener: () => void): unknown;
  /** Listens to a channel. The client subscribes again after it has reconnected. */
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  /** Stops listening to a channel. */
  unsubscribe(channel: string, listener: (message: unknown) => void): Promise<unknown>;
}

/** A client of the package `redis`, from version 5 on, as far as topics use it: the result of `createClient`. */
export interface RedisClient extends CommonClient {
  /** Sends a command. Rejects with the error of the server, or when the connection is lost. */
  sendCommand(args: string[], options?: { /** The types of replies. */ readonly typeMapping?: object }): Promise<unknown>;
  /** The options of the client. */
  readonly options?: object | undefined;
  /** Makes a client with the same options, except for those given, not connected yet. */
  duplicate(overrides?: { /** Options of its socket. */ readonly socket: object }): RedisClient;
}

/** A client of the package `redis`, from version 6 on, that finds its server by sentinels: the result of `createSentinel`. */
export interface RedisSentinel extends CommonClient {
  /** Sends a command to the master. Waits for a new master where the old one is lost. */
  sendCommand(
    isReadonly: boolean,
    args: string[],
    options?: { /** The types of replies. */ readonly typeMapping?: object },
  ): Promise<unknown>;
  /** Makes a client with the same options, not connected yet. */
  duplicate(): RedisSentinel;
  /** Returns the sentinel that the client is connected to. */
  getSentinelNode(): unknown;
}

/** A client of one server, or of sentinels. */
export type AnyRedis = RedisClient | RedisSentinel;

/** Replies have the types of their protocol, though the user may have mapped others. */
const PLAIN = { typeMapping: {} } as const;
const EXPECTED = 'a client of the package redis, made by createClient or createSentinel';

/** @throws TypeError unless `client` is one of the package `redis` for one server, or for sentinels */
export function checkClient(client: unknown): void {
  if (typeof client !== 'object' || client === null) throw optionError('client', EXPECTED, client);
  // A cluster has no connection for a read that waits. Its client fails later, with other words.
  if ('slots' in client) throw new TypeError(`client: expected ${EXPECTED}, got a cluster`);
  if (!('isReady' in client && 'duplicate' in client && 'subscribe' in client)) throw optionError('client', EXPECTED, client);
}

/** @throws Error for a client that is not connected: it would keep commands in memory */
export function checkReady(client: AnyRedis): void {
  if (!client.isReady) throw new Error('the client is not connected');
}

/** A read that waits for messages answers after this time at the latest. */
export const BLOCK_MS = 5_000;
/** A server that is silent this long is not there. */
export const SILENCE_MS = 3 * BLOCK_MS;

/** Sends a command to a client that is connected. A client of sentinels looks for another master by itself, which may take longer. */
export async function command(client: AnyRedis, ...args: readonly string[]): Promise<unknown> {
  checkReady(client);
  if (isSentinel(client)) return client.sendCommand(false, [...args], PLAIN);
  return firstValueFrom(from(client.sendCommand([...args], PLAIN)).pipe(timeout(SILENCE_MS)));
}

/** Sends two commands, of which the server runs the second one afterwards: a client of sentinels may have several connections. */
export async function inOrder(
  client: AnyRedis,
  first: readonly string[],
  second: readonly string[],
): Promise<readonly [first: unknown, second: unknown]> {
  const answer = command(client, ...first);
  if (!isSentinel(client)) return Promise.all([answer, command(client, ...second)]);
  return [await answer, await command(client, ...second)];
}

/**
 * Opens one more connection with the options of a client: a blocked read, and a subscription, hold up all other commands. Emits the new
 * client once it is connected, to later subscribers too. Closes it when the last subscriber leaves.
 *
 * The new connection is silent for long, so it takes no `socketTimeout`.
 *
 * Errors when the connection fails, because the new client would try again in silence. A client of sentinels finds the next server itself.
 * Errors when the program closes its client, too.
 */
export function connection(client: AnyRedis): Observable<AnyRedis> {
  const made$ = new Observable<AnyRedis>((subscriber) => {
    const fail = (error: unknown): void => {
      subscriber.error(error);
    };
    subscriber.add(endOf(client).subscribe(fail));
    if (!client.isOpen) {
      fail(new Error('the client is closed'));
      return;
    }
    const made = duplicateOf(client);
    let isDialing = true;
    const close = (): void => {
      if (!isDialing && made.isOpen) made.destroy();
    };
    /** A client that is destroyed while it dials would keep the socket that comes: it is destroyed afterwards. */
    const dialed = (): void => {
      isDialing = false;
      if (subscriber.closed) close();
    };
    subscriber.add(close);
    made.on('connect', dialed);
    made.on('error', (error) => {
      dialed();
      if (!isSentinel(made)) fail(error);
    });
    made
      .connect()
      .then(() => {
        dialed();
        subscriber.next(made);
      })
      .catch((error: unknown) => {
        dialed();
        fail(error);
      });
  });
  return made$.pipe(share({ connector: () => new ReplaySubject(1) }));
}

function duplicateOf(client: AnyRedis): AnyRedis {
  if (isSentinel(client)) return client.duplicate();
  const { socket }: { readonly socket?: object } = client.options ?? {};
  return client.duplicate({ socket: { ...socket, socketTimeout: 0 } });
}

function isSentinel(client: AnyRedis): client is RedisSentinel {
  return 'getSentinelNode' in client;
}

const ends = new WeakMap<AnyRedis, Observable<void>>();

/** Emits when the program closes a client, or the client stops reconnecting. All topics share one listener. */
function endOf(client: AnyRedis): Observable<void> {
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
