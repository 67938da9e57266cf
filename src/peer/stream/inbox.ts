import type { Subscriber, TeardownLogic } from 'rxjs';
import type { StreamLine } from '../../session/streams/stream-line.js';
import { chargeOf } from '../../wire/held-bytes.js';
import { deliverEnd } from './stream-end.js';
import type { End } from './stream-end.js';
import { UnreadQueue } from './unread-queue.js';

const NOBODY: readonly never[] = [];

/** Takes the payloads of one stream as they come. */
export interface Reader<T> {
  next(value: T): void;
  error(error: unknown): void;
  complete(): void;
}

/** What an inbox needs of its stream. */
export interface InboxStream<T> {
  /** Gets everything, from the first payload on, without an inbox between. */
  readonly reader: Reader<T> | null;
  /** Counts what waits to be read. */
  readonly line: Pick<StreamLine, 'weigh' | 'keep' | 'read' | 'arrivedBytes'>;
  /** Set once nothing follows; its error is `null` where the stream simply ended. */
  readonly end: End | null;
  /** Somebody reads: the stream is in use. */
  markTaken(): void;
  /** The last reader has left before the end. */
  lastReaderLeft(): void;
  /** Somebody reads after payloads that nobody got. */
  missed(): void;
}

/**
 * The received payloads of one stream. Until somebody reads they wait, counted in bytes; the first reader gets them, and
 * readers that come later share what is left. Not a Subject: there a teardown that throws would hide the end from others.
 */
export class Inbox<T> {
  /** Made when something has to wait; `null` again when nothing does, as while somebody subscribes or the stream has its reader. */
  #unread: UnreadQueue<T> | null = null;
  #subscribers: readonly Subscriber<T>[] = NOBODY;
  /** Those that are being handed what waits are not in the list yet. */
  #reading = 0;
  #readersLeft = false;
  /** Whether payloads were dropped after the last reader had left. */
  #dropped = false;
  #deliveringBytes: number | null = null;

  constructor(private readonly stream: InboxStream<T>) {}

  get hasSubscriber(): boolean {
    return this.#reading > 0;
  }

  /** Bytes of the payload that is being handed out, for a reader that keeps it for later. */
  get deliveredBytes(): number {
    return this.#deliveringBytes ?? chargeOf(this.stream.line.arrivedBytes);
  }

  next(value: T): void {
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

  /** Nothing follows: the stream has its {@link InboxStream.end}. What waits can still be read. */
  finish(end: End): void {
    const { reader } = this.stream;
    if (reader !== null) deliverEnd(reader, end);
    // Whoever comes later, and whoever is still being handed what waits, gets `stream.end` from `subscribe()`.
    for (const subscriber of this.#subscribers) deliverEnd(subscriber, end);
  }

  subscribe(subscriber: Subscriber<T>): TeardownLogic {
    this.stream.markTaken();
    this.#readersLeft = false;
    if (this.#dropped) this.stream.missed();
    this.#dropped = false;
    this.#reading++;
    this.#drainTo(subscriber);
    if (this.stream.end !== null) deliverEnd(subscriber, this.stream.end);
    this.#subscribers = [...this.#subscribers, subscriber];
    return () => {
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
      this.#reading--;
      this.checkLeft();
    };
  }

  /** Takes the oldest payload that waits. */
  shift(): ReturnType<UnreadQueue<T>['shift']> {
    const unread = this.#unread?.shift();
    if (this.#unread?.length === 0) this.#unread = null;
    return unread;
  }

  /** Forgets what waits, and whatever comes from now on. */
  drop(): void {
    this.#readersLeft = true;
    while (this.shift() !== undefined) this.#dropped = true;
  }

  #drainTo(subscriber: Subscriber<T>): void {
    while (!subscriber.closed) {
      const unread = this.shift();
      if (unread === undefined) return;
      this.#deliveringBytes = unread.bytes;
      subscriber.next(unread.value);
      this.#deliveringBytes = null;
    }
  }

  /** Somebody has stopped reading; after the last one, what waits is dropped. */
  checkLeft(): void {
    if (this.stream.reader !== null || this.hasSubscriber || this.#readersLeft) return;
    this.drop();
    if (this.stream.end === null) this.stream.lastReaderLeft();
  }
}
