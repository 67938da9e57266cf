import { firstValueFrom, from, fromEvent, takeUntil, timeout } from 'rxjs';
import type { BrokerError } from '../topics/broker-error.js';
import type { Broker } from '../topics/broker-log.js';
import { CursorLost } from '../topics/cursor.js';
import { fromJson, warnOfPassing } from '../topics/json-value.js';
import type { Message, PublishOptions } from '../topics/log.js';
import { BLOCK_MS, command, connection, inOrder, SILENCE_MS } from './redis-client.js';
import type { AnyRedis } from './redis-client.js';
import { explain } from './redis-error.js';

const PAGE = 100;
/** The same key within this time is one message. */
const DEDUPLICATION_S = 120;
/** The fields of a message and of the first one, which has no value. */
const VALUE = 'v';
const START = 'start';
/** Every message has a greater id. */
const BEFORE_ALL = '0-0';

/** Adds a message, unless the stream keeps one with the same key. Then it returns the place of that message. */
const PUBLISH_ONCE = `
local known = redis.call('GET', KEYS[2])
if known and #redis.call('XRANGE', KEYS[1], known, known) > 0 then return known end
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', '${VALUE}', ARGV[2])
redis.call('SET', KEYS[2], id, 'EX', ARGV[3])
return id`;

type Entry = readonly [id: string, fields: readonly string[]];

/** A stream of Redis, which a connection of its own reads. */
export class RedisBroker<T> implements Broker<T> {
  readonly name: string;

  constructor(
    private readonly client: AnyRedis,
    private readonly stream: string,
    private readonly keep: number,
  ) {
    this.name = `topic '${stream}'`;
  }

  newer(a: string, b: string): boolean {
    const [aTime, aNumber] = partsOf(a);
    const [bTime, bNumber] = partsOf(b);
    return aTime > bTime || (aTime === bTime && aNumber > bNumber);
  }

  explain(error: unknown): BrokerError {
    return explain(error, this.name, this.client);
  }

  async head(): Promise<string> {
    const [last] = (await command(this.client, 'XREVRANGE', this.stream, '+', '-', 'COUNT', '1')) as readonly Entry[];
    return last === undefined ? this.#add(START, '') : last[0];
  }

  publish(json: string, { key }: PublishOptions): Promise<string> {
    return key === undefined ? this.#add(VALUE, json) : this.#addOnce(json, keyOf(this.stream, key));
  }

  async *read(after: string | null, toEnd: boolean, signal: AbortSignal): AsyncGenerator<Message<T, string>, void> {
    if (after !== null && !isCursor(after)) throw new CursorLost(await this.head());
    if (toEnd) yield* this.#readToEnd(after, signal);
    else yield* this.#follow(after, signal);
  }

  async *#readToEnd(after: string | null, signal: AbortSignal): AsyncGenerator<Message<T, string>, void> {
    for (let place = after; !signal.aborted;) {
      const entries = await this.#page(this.client, place);
      yield* this.#messagesOf(entries);
      place = entries.at(-1)?.[0] ?? place;
      if (entries.length < PAGE) return;
    }
  }

  async *#follow(after: string | null, signal: AbortSignal): AsyncGenerator<Message<T, string>, void> {
    const reader$ = connection(this.client);
    let failure: unknown = null;
    const held = reader$.subscribe({
      error: (error: unknown) => {
        failure = error;
      },
    });
    const aborted$ = fromEvent(signal, 'abort');
    held.add(
      aborted$.subscribe(() => {
        held.unsubscribe();
      }),
    );
    try {
      const reader = await firstValueFrom(reader$.pipe(timeout(SILENCE_MS), takeUntil(aborted$)));
      for (let place = after; ;) {
        const entries = await this.#page(reader, place, 'BLOCK', String(BLOCK_MS));
        yield* this.#messagesOf(entries);
        place = entries.at(-1)?.[0] ?? place;
      }
    } catch (error) {
      // A command that is cut off knows less than its connection.
      if (!signal.aborted) throw failure ?? error;
    } finally {
      held.unsubscribe();
    }
  }

  /**
   * Returns messages after a place. A stream drops its oldest messages first. So nothing between is gone if the message at the place is
   * still kept afterwards. Without a place, nothing can be gone.
   */
  async #page(reader: AnyRedis, place: string | null, ...options: readonly string[]): Promise<readonly Entry[]> {
    const { stream } = this;
    const after = place ?? BEFORE_ALL;
    const read = ['XREAD', 'COUNT', String(PAGE), ...options, 'STREAMS', stream, after];
    const answers = inOrder(reader, read, ['XRANGE', stream, after, after]);
    const [entries, kept] = await firstValueFrom(from(answers).pipe(timeout(SILENCE_MS)));
    if (place !== null && (kept as readonly Entry[]).length === 0) throw new CursorLost(await this.head());
    return entriesOf(entries);
  }

  *#messagesOf(entries: readonly Entry[]): Generator<Message<T, string>, void> {
    for (const [cursor, fields] of entries) {
      const value = this.#valueOf(cursor, fields);
      if (value !== undefined) yield { cursor, value };
    }
  }

  /** Other programs may add entries with more fields, and entries without a value. */
  #valueOf(id: string, fields: readonly string[]): T | undefined {
    const json = fields.find((_, nth) => nth % 2 === 1 && fields[nth - 1] === VALUE);
    if (json !== undefined) return fromJson(json, `message ${id} of ${this.name}`, this) as T | undefined;
    const isFirst = fields.length === 2 && fields[0] === START && fields[1] === '';
    if (!isFirst) warnOfPassing(this, id, `entry ${id} of ${this.name} has no field '${VALUE}', and is passed over`);
    return undefined;
  }

  async #add(field: string, text: string): Promise<string> {
    return (await command(this.client, 'XADD', this.stream, 'MAXLEN', '~', String(this.keep), '*', field, text)) as string;
  }

  async #addOnce(json: string, used: string): Promise<string> {
    const options = [String(this.keep), json, String(DEDUPLICATION_S)];
    return (await command(this.client, 'EVAL', PUBLISH_ONCE, '2', this.stream, used, ...options)) as string;
  }
}

/**
 * The key of Redis that holds the place of a message. It ends with the length of the stream's name, so that no two pairs of names read
 * alike. It begins with the stream's name, so that a permission for `chat:*` holds for it too.
 */
function keyOf(stream: string, key: string): string {
  return `${stream}:key:${key}:${stream.length}`;
}

/** The entries in a reply of XREAD for one stream: a list of pairs in RESP2, an object in RESP3, `null` for none. */
function entriesOf(reply: unknown): readonly Entry[] {
  if (reply === null) return [];
  if (Array.isArray(reply)) return (reply as [[string, readonly Entry[]]])[0][1];
  return Object.values(reply as Readonly<Record<string, readonly Entry[]>>)[0] ?? [];
}

function isCursor(cursor: unknown): boolean {
  return typeof cursor === 'string' && /^\d{1,16}-\d{1,16}$/.test(cursor);
}

function partsOf(id: string): readonly [time: number, number: number] {
  const [time, number] = id.split('-');
  return [Number(time), Number(number)];
}
