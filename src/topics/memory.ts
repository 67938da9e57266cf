import { Subject } from 'rxjs';
import { checkNumber, checkOptions } from '../util/check.js';
import { LazyMap } from '../util/collections.js';
import { CursorLost } from './cursor.js';
import { newEpoch, numberOf } from './epoch.js';
import { InOrder } from './in-order.js';
import { checkMaxItemBytes, toMessageJson } from './json-value.js';
import { checkPublish } from './log.js';
import type { Log, Message, PublishOptions } from './log.js';

/** How much a log in memory keeps. */
export interface MemoryLogOptions {
  /** Keeps this many messages. Default 10 000. */
  readonly keep?: number | undefined;
  /** The most bytes of a value with its cursor. A larger one is refused. Default 16 MiB, the `maxPayloadBytes` of a client. */
  readonly maxItemBytes?: number | undefined;
}

/**
 * Makes a log in the memory of this process, with the interface of a broker: the start for one server, and for tests. Values are JSON, as
 * at a broker. The log keeps the last messages, and no bytes are counted. It ends with the process. The cursors of another process are lost
 * here, so its clients learn of it.
 *
 * @throws TypeError unless `keep` is a number of at least 1, and `maxItemBytes` one above 1024
 *
 * @example
 * ```ts
 * const chat = memoryLog<string>({ keep: 1_000 });
 * await chat.publish('hello');   // 'k3f:1'
 * ```
 */
export function memoryLog<T>(options: MemoryLogOptions = {}): Log<T, string> {
  checkOptions(options, { keep: true, maxItemBytes: true });
  const { keep = 10_000, maxItemBytes } = options;
  return new MemoryLog(checkNumber('keep', keep, 1), checkMaxItemBytes(maxItemBytes));
}

interface Entry {
  readonly json: string;
  readonly key: string | undefined;
}

class MemoryLog<T> implements Log<T, string> {
  readonly #epoch = newEpoch();
  /** The kept messages by their numbers, the oldest first. */
  readonly #entries = new LazyMap<number, Entry>();
  /** The numbers of the kept messages that have a key. */
  readonly #numbers = new LazyMap<string, number>();
  readonly #live$ = new Subject<Message<T, string>>();
  #messages: InOrder<readonly [number: number, json: string]> | null = null;
  readonly live$ = this.#live$.asObservable();
  /** The number of the last message. */
  #last = 0;

  constructor(
    private readonly keep: number,
    readonly maxItemBytes: number,
  ) {}

  newer(a: string, b: string): boolean {
    return numberOf(a) > numberOf(b);
  }

  head(): readonly string[] {
    return [this.#cursor(this.#last)];
  }

  history(cursor: string | null): Iterable<Message<T, string>> {
    const place = cursor === null ? null : numberOf(cursor);
    const isKept = place === null || (place >= this.#last - this.#entries.size && place <= this.#last);
    if (!isKept || cursor?.startsWith(`${this.#epoch}:`) === false) throw this.#lost();
    const end = this.#last;
    return { [Symbol.iterator]: () => this.#read(place, end) };
  }

  publish(value: T, options: PublishOptions = {}): Promise<string> {
    return new Promise((resolve) => {
      checkPublish(options);
      const json = toMessageJson(value, this.maxItemBytes);
      const { key } = options;
      const known = key === undefined ? undefined : this.#numbers.get(key);
      resolve(this.#cursor(known ?? this.#append(json, key)));
    });
  }

  #append(json: string, key: string | undefined): number {
    const number = ++this.#last;
    this.#entries.set(number, { json, key });
    if (key !== undefined) this.#numbers.set(key, number);
    if (this.#entries.size > this.keep) this.#trim();
    if (this.#live$.observed) this.#emit(number, json);
    return number;
  }

  #emit(number: number, json: string): void {
    this.#messages ??= new InOrder((message) => {
      this.#live$.next(this.#message(...message));
    });
    this.#messages.send([number, json]);
  }

  #trim(): void {
    for (const [oldest, { key }] of this.#entries) {
      this.#entries.delete(oldest);
      if (key !== undefined) this.#numbers.delete(key);
      return;
    }
  }

  /** Reads message after message, so that a waiting reader holds no list. The log may trim its next message meanwhile. */
  *#read(place: number | null, end: number): Generator<Message<T, string>, void> {
    for (let number = place ?? this.#last - this.#entries.size; number < end;) {
      const entry = this.#entries.get(++number);
      if (entry === undefined) throw this.#lost();
      yield this.#message(number, entry.json);
    }
  }

  #message(number: number, json: string): Message<T, string> {
    return { cursor: this.#cursor(number), value: JSON.parse(json) as T };
  }

  #lost(): CursorLost<string> {
    return new CursorLost(this.#cursor(this.#last));
  }

  #cursor(number: number): string {
    return `${this.#epoch}:${number}`;
  }
}
