import type { Subscriber, TeardownLogic } from 'rxjs';
import { log } from '../../logger.js';
import { aboutStream } from '../../wire/about-stream.js';
import { chargeOf } from '../../wire/held-bytes.js';
import { deliverEnd } from './stream-end.js';
import type { End } from './stream-end.js';
import type { StreamCore } from './stream-core.js';
import { UnreadQueue } from './unread-queue.js';

const NOBODY: readonly never[] = [];
const MISSED = 'a second reader came after the first had left, and has missed the payloads between: keep one iterator';

/** Receives the payloads of one stream as they come. */
export interface Reader {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

/**
 * The received payloads of one stream. They wait for the first reader, counted in bytes. Later readers share the remaining payloads. The inbox
 * is no Subject, where a throwing teardown would hide the end from other subscribers.
 */
export class Inbox {
  /** Created when a payload has to wait; `null` again while none waits. None waits while the stream has a subscriber or its reader. */
  #unread: UnreadQueue<unknown> | null = null;
  #subscribers: readonly Subscriber<unknown>[] = NOBODY;
  /** The number of subscribers. It includes those that still receive waiting payloads, which are not in the list yet. */
  #reading = 0;
  #readersLeft = false;
  /** Whether payloads were dropped after the last reader had left. */
  #dropped = false;
  #deliveringBytes: number | null = null;

  constructor(private readonly stream: StreamCore) {}

  get hasSubscriber(): boolean {
    return this.#reading > 0;
  }

  /** Bytes of the payload in delivery, for a reader that keeps the payload for later. */
  get deliveredBytes(): number {
    return this.#deliveringBytes ?? chargeOf(this.stream.session?.arrivedBytes ?? 0);
  }

  next(value: unknown): void {
    if (this.#readersLeft) {
      this.#dropped = true;
      return;
    }
    const subscribers = this.#subscribers;
    const { reader } = this.stream;
    reader?.next(value);
    if (subscribers.length > 0) for (const subscriber of subscribers) subscriber.next(value);
    else if (reader === null) (this.#unread ??= new UnreadQueue(this.stream)).add(value, this.deliveredBytes);
  }

  /** The stream has its {@link StreamCore.end}, and no payload follows. Waiting payloads can still be read. */
  finish(end: End): void {
    const { reader } = this.stream;
    if (reader !== null) deliverEnd(reader, end);
    // `subscribe()` delivers `stream.end` to later subscribers, and to those that still receive waiting payloads.
    for (const subscriber of this.#subscribers) deliverEnd(subscriber, end);
  }

  subscribe(subscriber: Subscriber<unknown>): TeardownLogic {
    this.stream.markTaken();
    this.#readersLeft = false;
    if (this.#dropped) log('warn', aboutStream(this.stream.id, MISSED));
    this.#dropped = false;
    this.#reading++;
    this.#drainTo(subscriber);
    if (this.stream.end !== null) deliverEnd(subscriber, this.stream.end);
    this.#subscribers = this.#subscribers.concat(subscriber);
    return () => {
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
      this.#reading--;
      this.checkLeft();
    };
  }

  /** Removes and returns the oldest waiting payload. */
  shift(): ReturnType<UnreadQueue<unknown>['shift']> {
    const unread = this.#unread?.shift();
    if (this.#unread?.length === 0) this.#unread = null;
    return unread;
  }

  /** Drops the waiting payloads, and all payloads from now on. */
  drop(): void {
    this.#readersLeft = true;
    while (this.shift() !== undefined) this.#dropped = true;
  }

  #drainTo(subscriber: Subscriber<unknown>): void {
    if (this.#unread === null) return;
    this.stream.held.passing(() => {
      while (!subscriber.closed) {
        const unread = this.shift();
        if (unread === undefined) return;
        this.#deliveringBytes = unread.bytes;
        subscriber.next(unread.value);
        this.#deliveringBytes = null;
      }
    });
  }

  /** A reader has left. Drops the waiting payloads after the last reader. */
  checkLeft(): void {
    if (this.stream.reader !== null || this.hasSubscriber || this.#readersLeft) return;
    this.drop();
    if (this.stream.end === null) this.stream.lastReaderLeft();
  }
}
