import { Subject } from 'rxjs';
import type { Subscriber, TeardownLogic } from 'rxjs';
import { Fifo } from '../wire/fifo.js';
import { LEAST_CHARGE } from '../wire/held-bytes.js';

/** Takes the payloads of one stream as they come. */
export interface Reader<T> {
  next(value: T): void;
  error(error: unknown): void;
  complete(): void;
}

/** What an inbox needs of its stream. */
export interface InboxStream {
  /** Counts `bytes` that wait to be read; `false` when that was too much and the stream has been reset. */
  keep(bytes: number): boolean;
  /** `bytes` that waited have been read or dropped. */
  read(bytes: number): void;
  /** Bytes of the payload that is being delivered. */
  readonly arrivedBytes: number;
  /** The first reader is there. */
  taken(): void;
  /** The last reader has left before the end. */
  abandoned(): void;
}

interface Unread<T> {
  readonly value: T;
  readonly bytes: number;
}

/**
 * The received payloads of one stream. Until somebody reads they wait, counted in bytes; the first reader gets them, and
 * readers that come later share what is left. The Subject is made when somebody subscribes.
 */
export class Inbox<T> {
  #unread: Fifo<Unread<T>> | null = null;
  #reader: Reader<T> | null = null;
  #subject: Subject<T> | null = null;
  /** Those that are being handed what waits are not with the Subject yet. */
  #subscribers = 0;
  #end: { readonly error: unknown } | null = null;
  #left = false;
  #inHand: number | null = null;

  constructor(private readonly stream: InboxStream) {}

  /** Whether somebody reads. */
  get hasReader(): boolean {
    return this.#reader !== null || this.#subscribers > 0;
  }

  /** Bytes of the payload that is being handed out, for a reader that keeps it for later. */
  get deliveredBytes(): number {
    return this.#inHand ?? Math.max(LEAST_CHARGE, this.stream.arrivedBytes);
  }

  next(value: T): void {
    if (this.#left || this.#end !== null) return;
    const shared = this.#subject?.observed === true && this.#unread === null;
    this.#reader?.next(value);
    if (shared) this.#subject?.next(value);
    else if (this.#reader === null) this.#keep(value);
  }

  /** Nothing follows; `error` is `null` where the stream simply ended. What waits can still be read. */
  finish(error: unknown): void {
    if (this.#end !== null) return;
    this.#end = { error };
    if (this.#unread !== null) return;
    if (this.#reader !== null) finish(this.#reader, error);
    if (this.#subject !== null) finish(this.#subject, error);
  }

  /** Hands everything, from the first payload on, to one reader without a Subject between. */
  attach(reader: Reader<T>): void {
    this.stream.taken();
    this.#reader = reader;
    if (this.#end !== null) finish(reader, this.#end.error);
  }

  subscribe(subscriber: Subscriber<T>): TeardownLogic {
    this.stream.taken();
    this.#left = false;
    this.#subscribers++;
    this.#drainTo(subscriber);
    if (this.#unread === null && this.#end !== null) finish(subscriber, this.#end.error);
    if (!subscriber.closed) (this.#subject ??= new Subject()).subscribe(subscriber);
    return () => {
      this.#subscribers--;
      this.#checkLeft();
    };
  }

  /** Takes the oldest payload that waits. */
  shift(): Unread<T> | undefined {
    const unread = this.#unread?.shift();
    if (unread !== undefined) this.stream.read(unread.bytes);
    if (this.#unread?.length === 0) this.#unread = null;
    return unread;
  }

  /** Forgets what waits, and whatever comes from now on. */
  drop(): void {
    this.#left = true;
    while (this.shift() !== undefined);
  }

  #keep(value: T): void {
    const bytes = this.deliveredBytes;
    if (this.stream.keep(bytes)) (this.#unread ??= new Fifo()).push({ value, bytes });
  }

  #drainTo(subscriber: Subscriber<T>): void {
    while (!subscriber.closed) {
      const unread = this.shift();
      if (unread === undefined) return;
      this.#inHand = unread.bytes;
      subscriber.next(unread.value);
      this.#inHand = null;
    }
  }

  #checkLeft(): void {
    if (this.hasReader || this.#left) return;
    this.drop();
    if (this.#end === null) this.stream.abandoned();
  }
}

function finish(reader: { error(error: unknown): void; complete(): void }, error: unknown): void {
  if (error === null) reader.complete();
  else reader.error(error);
}
