import { Subject } from 'rxjs';
import { checkValue } from '../stream/payload.js';
import { checkNumber } from '../util/check.js';
import { checkOptions } from '../util/check.js';
import { checkCarried } from './carried-value.js';
import { CursorLost } from './cursor-lost.js';
import { newEpoch, numberOf } from './epoch.js';
import { InOrder } from './in-order.js';
import { checkPublish } from './log.js';
import type { Log, Message, PublishOptions } from './log.js';

/** How much a log in memory keeps. */
export interface MemoryLogOptions {
  /** Keeps this many messages. Default 10 000. */
  readonly keep?: number | undefined;
}

/**
 * Makes a log in the memory of this process, with the interface of a broker: the start for one server, and for tests. It keeps the last
 * messages, and no bytes are counted. It ends with the process. The cursors of another process are lost here, so its clients learn of it.
 *
 * @throws TypeError unless `keep` is a number of at least 1
 *
 * @example
 * ```ts
 * const chat = memoryLog<string>({ keep: 1_000 });
 * await chat.publish('hello');   // 'k3f:1'
 * ```
 */
export function memoryLog<T>(options: MemoryLogOptions = {}): Log<T, string> {
  checkOptions(options, { keep: true });
  const { keep = 10_000 } = options;
  return new MemoryLog(checkNumber('keep', keep, 1));
}

interface Entry<T> extends Message<T, string> {
  readonly key: string | undefined;
}

class MemoryLog<T> implements Log<T, string> {
  readonly #epoch = newEpoch();
  readonly #entries: Entry<T>[] = [];
  readonly #cursors = new Map<string, string>();
  readonly #live$ = new Subject<Message<T, string>>();
  readonly #messages = new InOrder<Entry<T>>((entry) => {
    this.#live$.next(entry);
  });
  readonly live$ = this.#live$.asObservable();
  /** The number of all messages so far. */
  #published = 0;

  constructor(private readonly keep: number) {}

  newer(a: string, b: string): boolean {
    return numberOf(a) > numberOf(b);
  }

  head(): readonly string[] {
    return [this.#cursor()];
  }

  history(cursor: string | null): readonly Message<T, string>[] {
    if (cursor === null) return [...this.#entries];
    const missing = this.#published - numberOf(cursor);
    const isKept = missing >= 0 && missing <= this.#entries.length && cursor.startsWith(`${this.#epoch}:`);
    if (!isKept) throw new CursorLost(this.#cursor());
    return missing === 0 ? [] : this.#entries.slice(-missing);
  }

  publish(value: T, options: PublishOptions = {}): Promise<string> {
    return new Promise((resolve) => {
      checkPublish(options);
      checkValue(value);
      checkCarried(value);
      const { key } = options;
      const known = key === undefined ? undefined : this.#cursors.get(key);
      resolve(known ?? this.#append(value, key));
    });
  }

  #append(value: T, key: string | undefined): string {
    this.#published++;
    const entry = { cursor: this.#cursor(), value, key };
    this.#entries.push(entry);
    if (key !== undefined) this.#cursors.set(key, entry.cursor);
    if (this.#entries.length > this.keep) this.#trim();
    this.#messages.send(entry);
    return entry.cursor;
  }

  #trim(): void {
    const key = this.#entries.shift()?.key;
    if (key !== undefined) this.#cursors.delete(key);
  }

  #cursor(): string {
    return `${this.#epoch}:${this.#published}`;
  }
}
