import { Observable, Subject } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { checkNumber, checkOptions } from '../util/check.js';
import { Fifo, LazyMap } from '../util/collections.js';
import { channels, checkChannel } from './bus.js';
import type { Bus } from './bus.js';
import { CursorLost, newEpoch, numberOf } from './cursor.js';
import { checkMaxItemBytes, toJson, toMessageJson } from './json-value.js';
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
export function memoryLog<T>(options: MemoryLogOptions = {}): Log<T> {
  checkOptions(options, { keep: true, maxItemBytes: true });
  const { keep = 10_000, maxItemBytes } = options;
  return new MemoryLog(checkNumber('keep', keep, 1), checkMaxItemBytes(maxItemBytes));
}

interface Entry {
  readonly json: string;
  readonly key: string | undefined;
}

class MemoryLog<T> implements Log<T> {
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
    for (const [oldest, { key }] of this.#entries.entries()) {
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
  const opened = new Map<string, Subscriber<unknown>>();
  // Listeners get a value as it was when it was sent.
  const values = new InOrder<readonly [channel: string, json: string]>(([channel, json]) => {
    opened.get(channel)?.next(JSON.parse(json));
  });
  const open = (channel: string): Observable<unknown> =>
    new Observable((subscriber) => {
      opened.set(channel, subscriber);
      return () => opened.get(channel) === subscriber && opened.delete(channel);
    });
  return {
    on: channels(open),
    send: (channel, value) =>
      new Promise((resolve) => {
        checkChannel(channel);
        values.send([channel, toJson(value)]);
        resolve();
      }),
  };
}

/** Emits values one after another. A receiver of one value may send the next: it leaves once all have received the first. */
class InOrder<T> {
  readonly #unsent = new Fifo<T>();
  #isSending = false;

  constructor(private readonly emit: (value: T) => void) {}

  send(value: T): void {
    this.#unsent.push(value);
    if (!this.#isSending) this.#sendAll();
  }

  #sendAll(): void {
    this.#isSending = true;
    for (let value = this.#unsent.shift(); value !== undefined; value = this.#unsent.shift()) this.emit(value);
    this.#isSending = false;
  }
}
