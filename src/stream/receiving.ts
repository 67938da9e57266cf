import { guard } from '../rx/subscribers.js';
import type { Subscriber, TeardownLogic } from 'rxjs';
import type { Excess } from '../connection/budget.js';
import { log } from '../logger.js';
import { Fifo } from '../util/collections.js';
import { aboutStream } from '../wire/errors.js';
import type { CompleteFrame } from '../wire/frame.js';
import { chargeOf, weightOf } from '../wire/reassembly.js';
import type { CloseCause } from './end.js';

import type { LiveStream, LiveStreamHost, StreamCore } from './stream-core.js';

/** A payload with its encoded bytes, and with its bytes of memory. */
interface Counted<T> {
  readonly value: T;
  readonly bytes: number;
  readonly weight: number;
}

/** Unread payloads, which their stream counts. */
export class UnreadQueue<T> extends Fifo<Counted<T>> {
  constructor(private readonly stream: StreamCore) {
    super();
  }

  /** Adds a payload, unless it exceeds a limit, which has reset the stream. */
  add(value: T, bytes: number): void {
    const { stream } = this;
    const weight = weightOf(stream.host.codec, value, bytes);
    if (stream.held.keep(bytes, weight)) this.push({ value, bytes, weight });
  }

  override shift(): Counted<T> | undefined {
    const unread = super.shift();
    if (unread !== undefined) this.stream.held.read(unread.bytes, unread.weight);
    return unread;
  }

  override clear(): void {
    while (this.shift() !== undefined);
  }
}

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

/**
 * One stream's share of its connection: a place of `maxStreams`, and bytes that it has received.
 *
 * A remote's stream keeps its place until it is closed, its reset is written, and its handler has settled. So a remote that resets fast, or
 * does not read, gets no further places meanwhile. The bytes stay counted until the stream has ended and its handler has settled. Unread
 * payloads that were handed over stay counted until they are read.
 */
export class Holdings {
  /** Encoded bytes of the payloads that no consumer has read yet, which count for the stream. */
  #unread = 0;
  /** Bytes of their memory, which count for the connection. */
  #weight = 0;
  /** Weight of the open's payload, of headers and of trailers. The stream's user holds them as long as the stream lives. */
  #attached = 0;
  /** `handedOver`: the stream has received its last payload, and a consumer will still read the rest. `released`: no consumer is left. */
  #payloads: 'none' | 'unread' | 'handedOver' | 'released';
  /** Whether waiting payloads are being passed to a reader, which may keep them. */
  #isPassing = false;
  #hasPlace = false;
  #isRunning = false;
  #isResetting = false;
  /** The cause of the stream's end if its last payload exceeded a limit. */
  overrun: CloseCause | null = null;

  constructor(
    private readonly stream: Pick<LiveStream, 'closed' | 'cause' | 'reset'>,
    private readonly host: Pick<LiveStreamHost, 'codec' | 'receiveBudget' | 'streams' | 'arrivedBytes' | 'noted'>,
  ) {
    this.#payloads = stream.cause === null ? 'none' : 'released';
  }

  /** Whether the handler is running. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Takes one of the places of `maxStreams`. */
  takePlace(): this {
    this.#hasPlace = true;
    this.host.streams.takePlace();
    return this;
  }

  handlerStarted(): void {
    if (!this.stream.closed) this.#isRunning = true;
  }

  handlerSettled(): void {
    this.#isRunning = false;
    this.#checkPlace();
    if (this.stream.closed) this.release();
  }

  /** Keeps the place until the queued reset is written. */
  awaitReset(): void {
    this.#isResetting = true;
  }

  resetWritten(): void {
    this.#isResetting = false;
    this.#checkPlace();
  }

  /** The stream is closed, so its consumer need not slow the remote. */
  close(): void {
    if (this.#payloads !== 'none') this.host.receiveBudget.unblock(this.stream);
    this.#checkPlace();
  }

  /**
   * Counts an unread payload. Over a limit it resets the stream and returns `false`.
   *
   * @param bytes the encoded length
   * @param weight the bytes of memory; default `bytes`
   */
  keep(bytes: number, weight = bytes): boolean {
    // Counting would never be undone.
    if (this.#payloads === 'released') return true;
    const excess = this.host.receiveBudget.keep(this.stream, this.#unread + bytes, bytes, weight);
    if (excess !== null) return this.#overrun(excess);
    this.#unread += bytes;
    this.#weight += weight;
    if (this.#payloads === 'none') this.#payloads = 'unread';
    return true;
  }

  /** The consumer has read or dropped a counted payload. */
  read(bytes: number, weight = bytes): void {
    if (this.#payloads === 'released') return;
    this.#unread -= bytes;
    this.#weight -= weight;
    if (this.#isPassing) this.host.receiveBudget.held.release(weight);
    else this.host.receiveBudget.read(this.stream, this.#unread, bytes, weight);
  }

  /** Runs `pass`, which passes waiting payloads to a reader. The reader may keep some of them, which then are not read yet. */
  passing(pass: () => void): void {
    const before = this.#unread;
    this.#isPassing = true;
    pass();
    this.#isPassing = false;
    if (this.#payloads !== 'released') this.host.receiveBudget.read(this.stream, this.#unread, before - this.#unread, 0);
  }

  /** The stream has received its last payload, and a consumer will still read the rest. */
  handOver(): void {
    if (this.#payloads === 'unread') this.#payloads = 'handedOver';
  }

  /** Counts the parts of a delivered frame that stay with the stream. Over the limit it resets the stream and returns `false`. */
  attach({ payload, headers, trailers }: CompleteFrame): boolean {
    const { codec, receiveBudget, arrivedBytes } = this.host;
    const bytes = weightOf(codec, headers === null && trailers === null ? payload : [payload, headers, trailers], arrivedBytes);
    const excess = receiveBudget.attach(bytes);
    if (excess !== null) return this.#overrun(excess);
    this.#attached += bytes;
    return true;
  }

  /** The stream has ended. Releases its bytes, unless a handler still runs. */
  release(): void {
    if (this.#isRunning) return;
    if (this.#payloads === 'unread') this.read(this.#unread, this.#weight);
    if (this.#payloads !== 'handedOver') this.#payloads = 'released';
    if (this.#attached > 0) this.host.receiveBudget.attached.release(this.#attached);
    this.#attached = 0;
  }

  /** A payload exceeds a limit. */
  #overrun({ code, reason: excess }: Excess): false {
    const reason = this.host.noted(excess);
    // The frame that closed the stream carried the payload. No reset can be sent, but the reader must see an error.
    if (this.stream.closed) this.overrun = { how: 'reset', by: 'library', code, reason, payload: null };
    else this.stream.reset('library', code, reason);
    return false;
  }

  #checkPlace(): void {
    if (!this.#hasPlace || !this.stream.closed || this.#isRunning || this.#isResetting) return;
    this.#hasPlace = false;
    this.host.streams.releasePlace();
  }
}

/** The end of a stream's received payloads. */
export interface End {
  /** `null` if the stream ended without an error. */
  readonly error: unknown;
}

/** The end without an error. */
export const COMPLETED: End = { error: null };

/** Delivers the end to a reader. rxjs throws a teardown's error at this caller, so guard it: other readers still need their end. */
export function deliverEnd(reader: { error(error: unknown): void; complete(): void }, { error }: End): void {
  guard('a subscriber of a stream', () => {
    if (error === null) reader.complete();
    else reader.error(error);
  });
}
