import type { Subscriber, TeardownLogic } from 'rxjs';
import { log } from '../logger.js';
import { guard } from '../rx/subscribers.js';
import { Fifo } from '../util/collections.js';
import type { ResetCode } from '../wire/codes.js';
import { aboutStream } from '../wire/errors.js';
import { chargeOf, weightOf } from '../wire/reassembly.js';
import { libraryReset } from './end.js';
import type { CloseCause } from './end.js';
import type { StreamCore } from './stream-core.js';

/** Receives the payloads of one stream as they come. */
export interface Reader {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

/** A reader that may leave: a subscriber, for example. */
interface Leaver extends Reader {
  readonly closed?: boolean;
}

/** Delivers the end to a reader; `null` is no error. rxjs throws a teardown's error at this caller: other readers still need their end. */
export function deliverEnd(reader: Pick<Reader, 'error' | 'complete'>, error: unknown): void {
  guard('a subscriber of a stream', () => {
    if (error === null) reader.complete();
    else reader.error(error);
  });
}

/** The reset of a stream that may not keep a payload. */
export interface Excess {
  readonly code: ResetCode;
  readonly reason: string;
}

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

  /** Adds a payload, unless it exceeds a limit or its codec fails to weigh it. Either has reset the stream. */
  add(value: T, bytes: number): void {
    const { stream } = this;
    try {
      const weight = weightOf(stream.owner.codec, value, bytes);
      if (stream.ownReceiving.keep(bytes, weight)) this.push({ value, bytes, weight });
    } catch (error) {
      stream.broken(error);
    }
  }

  override shift(): Counted<T> | undefined {
    const unread = super.shift();
    if (unread !== undefined) this.stream.ownReceiving.read(unread.bytes, unread.weight);
    return unread;
  }

  override clear(): void {
    while (this.shift() !== undefined);
  }
}

const MISSED = 'a second reader subscribed after the first had left and missed the payloads in between: keep one iterator';

/**
 * The unread payloads of a stream, which wait for the first reader. They count in bytes: for the stream by their encoded length, for the
 * connection by their memory. They stay counted until the stream has ended and its handler has settled. Payloads that were handed over stay
 * counted until they are read.
 */
export class Receiving {
  /** `null` while none waits. None waits while the stream has a subscriber or its reader. */
  #unread: UnreadQueue<unknown> | null = null;
  /** The number of subscribers. It includes those that still receive waiting payloads, and do not subscribe to the Subject yet. */
  #reading = 0;
  #readersLeft = false;
  /** Whether payloads were dropped after the last reader had left. */
  #dropped = false;
  #deliveringBytes: number | null = null;
  /** Encoded bytes of the unread payloads. */
  #bytes = 0;
  /** Bytes of their memory. */
  #weight = 0;
  /** `handedOver`: the stream has received its last payload, and a consumer will still read the rest. `released`: no consumer is left. */
  #payloads: 'none' | 'unread' | 'handedOver' | 'released';
  /** The readers to which waiting payloads are being passed, and which may keep them; `null` for none. Each may bring another one. */
  #passing: Leaver[] | null = null;
  /** The cause of the stream's end if its last payload exceeded a limit. */
  overrun: CloseCause | null = null;

  constructor(private readonly stream: StreamCore) {
    this.#payloads = stream.cause === null ? 'none' : 'released';
  }

  /** Whether the stream has a subscriber. */
  get isRead(): boolean {
    return this.#reading > 0;
  }

  /** Bytes of the payload in delivery, for a reader that keeps the payload for later. */
  get deliveredBytes(): number {
    return this.#deliveringBytes ?? chargeOf(this.stream.carrier?.arrivedBytes ?? 0);
  }

  next(value: unknown): void {
    if (this.#readersLeft) {
      this.#dropped = true;
      return;
    }
    const { stream } = this;
    const { reader, observed } = stream;
    if (this.#passing !== null || (reader === null && !observed))
      (this.#unread ??= new UnreadQueue(stream)).add(value, this.deliveredBytes);
    else {
      reader?.next(value);
      if (observed) stream.multicast(value);
    }
  }

  passTo(subscriber: Subscriber<unknown>): TeardownLogic {
    const { stream } = this;
    this.#readersLeft = false;
    if (this.#dropped) log('warn', aboutStream(stream.id, MISSED));
    this.#dropped = false;
    this.#reading++;
    if (this.#passing === null) this.pass(subscriber);
    else this.#passing.push(subscriber);
    return () => {
      this.#reading--;
      this.checkLeft();
    };
  }

  /** Removes and returns the oldest waiting payload. */
  shift(): Counted<unknown> | undefined {
    const unread = this.#unread?.shift();
    if (this.#unread?.length === 0) this.#unread = null;
    return unread;
  }

  /** A reader has left. After the last one, drops the waiting payloads, and all payloads from now on. */
  checkLeft(): void {
    const { stream } = this;
    if (stream.hasReader || this.#readersLeft) return;
    this.#readersLeft = true;
    while (this.shift() !== undefined) this.#dropped = true;
    if (!stream.isOver) stream.lastReaderLeft();
  }

  /** Passes the waiting payloads to a reader, then later ones or the end. Subscribers that come meanwhile receive what still waits. */
  pass(first: Reader): void {
    const { stream } = this;
    const passing: Leaver[] = [first];
    if (this.#unread !== null) {
      const before = this.#bytes;
      this.#passing = passing;
      while (passing.some(({ closed }) => closed !== true)) {
        const unread = this.shift();
        if (unread === undefined) break;
        this.#deliveringBytes = unread.bytes;
        for (const reader of [...passing]) reader.next(unread.value);
        this.#deliveringBytes = null;
      }
      this.#passing = null;
      // The readers may keep some of them, which then are not read yet.
      if (this.#payloads !== 'released') this.#readTo(before - this.#bytes, 0);
    }
    for (const reader of passing) {
      stream.passEnd(reader);
      if (!stream.isOver && reader !== stream.reader) stream.subscribe(reader);
    }
  }

  /**
   * Counts an unread payload. Over a limit it resets the stream and returns `false`.
   *
   * @param bytes the encoded length
   * @param weight the bytes of memory
   */
  keep(bytes: number, weight: number): boolean {
    // Counting would never be undone.
    if (this.#payloads === 'released') return true;
    const { stream } = this;
    const excess = stream.connection.budget.keep(stream, this.#bytes + bytes, bytes, weight);
    if (excess !== null) {
      this.#exceed(excess);
      return false;
    }
    this.#bytes += bytes;
    this.#weight += weight;
    if (this.#payloads === 'none') this.#payloads = 'unread';
    return true;
  }

  /** The consumer has read or dropped a counted payload. */
  read(bytes: number, weight: number): void {
    if (this.#payloads === 'released') return;
    this.#bytes -= bytes;
    this.#weight -= weight;
    if (this.#passing !== null) this.stream.connection.budget.held.release(weight);
    else this.#readTo(bytes, weight);
  }

  /** The stream has received its last payload, and a consumer will still read the rest. */
  handOver(): void {
    if (this.#payloads === 'unread') this.#payloads = 'handedOver';
  }

  /** The stream is closed, so its consumer need not slow the remote. */
  unblock(): void {
    if (this.#payloads !== 'none') this.stream.connection.budget.unblock(this.stream);
  }

  /** The stream has ended, and no handler runs. */
  release(): void {
    if (this.#payloads === 'unread') this.read(this.#bytes, this.#weight);
    if (this.#payloads !== 'handedOver') this.#payloads = 'released';
  }

  #readTo(bytes: number, weight: number): void {
    this.stream.connection.budget.read(this.stream, this.#bytes, bytes, weight);
  }

  /** The frame that closed a stream may have carried the payload. Then no reset can be sent, but the reader must see an error. */
  #exceed(excess: Excess): void {
    const { stream } = this;
    if (stream.hasClosed) {
      this.overrun = libraryReset(stream.connection.noted(excess.reason), excess.code);
    } else stream.exceed(excess);
  }
}
