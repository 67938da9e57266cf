import { catchError, defer, filter, map, share, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { optionError } from '../util/check.js';
import { getOrMake } from '../util/collections.js';
import { encodedLength } from '../wire/length.js';
import { BrokerError } from './broker-error.js';
import { fromJson, toJson } from './json-value.js';

/**
 * Carries values to all servers: without history, each at most once. A server that is not connected to the broker misses them.
 *
 * A channel is a text of at most 1 024 bytes. Rooms, users and presence use channels that begin with `room:`, `user:` and `presence:`.
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

/** @throws TypeError unless `bus` is a bus */
export function checkBus(caller: string, bus: unknown): void {
  if (typeof bus !== 'object' || bus === null || !('on' in bus && 'send' in bus)) throw optionError(caller, 'a Bus', bus);
}

/** The bytes of a name in UTF-8. A channel of NATS may be three times as long, and its server takes lines of 4 096 bytes. */
const MAX_NAME_BYTES = 1_000;
const MAX_CHANNEL_BYTES = 1_024;

/**
 * Returns `name`, the name of a user, a room or a member.
 *
 * @throws TypeError unless it is a text that is not empty, of at most 1 000 bytes
 */
export function checkName(caller: string, what: string, name: unknown): string {
  if (typeof name !== 'string' || name === '') throw optionError(caller, `a text for ${what}`, name);
  return checkBytes(caller, what, name, MAX_NAME_BYTES);
}

/**
 * Returns the channel of a name. Each kind of name has channels of its own.
 *
 * @throws TypeError for a wrong name, see {@link checkName}
 */
export function channelOf(kind: 'room' | 'user' | 'presence', caller: string, what: string, name: unknown): string {
  return `${kind}:${checkName(caller, what, name)}`;
}

/** @throws TypeError for a channel of a bus that is no text, or longer than every broker takes */
export function checkChannel(channel: unknown): string {
  if (typeof channel !== 'string') throw optionError('channel', 'a text', channel);
  return checkBytes('channel', 'the name', channel, MAX_CHANNEL_BYTES);
}

/** @throws TypeError for a text of more bytes, which the error does not quote */
export function checkBytes(name: string, what: string, text: string, most: number): string {
  // A character has three bytes at most.
  const bytes = text.length * 3 > most ? encodedLength(text) : 0;
  if (bytes > most) throw new TypeError(`${name}: expected at most ${most} bytes for ${what}, got ${bytes}`);
  return text;
}

/**
 * Returns a function that opens a channel once for all its subscribers of this process, as long as it has any.
 *
 * A subscriber that comes at the very end of a channel opens it anew. So the channel is forgotten before its subscribers learn of the end.
 */
export function channels(open: (channel: string) => Observable<unknown>): <T>(channel: string) => Observable<T> {
  const opened = new Map<string, Observable<unknown>>();
  const openOnce = (channel: string): Observable<unknown> => {
    const forget = (): void => {
      if (opened.get(channel) === shared$) opened.delete(channel);
    };
    const shared$ = open(channel).pipe(tap({ error: forget, complete: forget, unsubscribe: forget }), share());
    return shared$;
  };
  return <T>(channel: string) => {
    checkChannel(channel);
    return defer(() => getOrMake(opened, channel, () => openOnce(channel))) as Observable<T>;
  };
}

/** The work of an adapter at its broker. `name` is the name of the channel in messages. */
export interface BusBroker {
  /** Emits the texts of a channel. */
  hear(channel: string, name: string): Observable<string>;
  send(channel: string, json: string): Promise<unknown>;
  /** Explains an error of the client. */
  explain(error: unknown, name: string): BrokerError;
}

/** Makes a bus over a broker that carries texts. A text that is no JSON is dropped with a warning. */
export function busOver(broker: BusBroker): Bus {
  const fail = (error: unknown, name: string): never => {
    throw error instanceof BrokerError ? error : broker.explain(error, name);
  };
  const on = (channel: string): Observable<unknown> => {
    const name = `channel '${channel}'`;
    return broker.hear(channel, name).pipe(
      map((text) => fromJson(text, `a value of ${name}`)),
      filter((value) => value !== undefined),
      catchError((error: unknown) => fail(error, name)),
    );
  };
  return {
    on: channels(on),
    async send(channel, value) {
      checkChannel(channel);
      const json = toJson(value);
      try {
        await broker.send(channel, json);
      } catch (error) {
        fail(error, `channel '${channel}'`);
      }
    },
  };
}
