import { asyncScheduler, Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { soon } from '../rx/soon.js';
import { abnormalClose } from '../transport/transport.js';
import type { SocketClose, Transport } from '../transport/transport.js';
import type { Message } from '../wire/codec.js';
import { Fifo } from '../util/collections.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { encodedLength } from '../wire/length.js';
import type { Side, MemoryLink } from './memory-link.js';

type Item = { readonly message: Message } | { readonly close: SocketClose };

/** One end of a {@link MemoryLink}. */
export class MemoryTransport implements Transport {
  readonly protocol: string;
  readonly opaque = false;
  readonly refusedStatus = null;
  readonly messages$: Observable<Message>;
  readonly opened$: Observable<never>;
  /** Items on their way to this end, in the order of sending. */
  readonly #travelling = new Fifo<Item>();
  /** Items that have arrived at this end and are not read yet, in order. */
  readonly #arriving = new Fifo<Item>();
  #unreadBytes = 0;
  #leaving = 0;
  #sentBytes = 0;
  #reader: Subscriber<Message> | null = null;
  #closed: SocketClose | null = null;
  #closing = false;
  #paused = false;
  #stalled = false;
  #due = 0;
  #delivering = false;
  #waiting: { readonly bytes: number; readonly task: () => void } | null = null;

  constructor(
    private readonly link: MemoryLink,
    private readonly side: Side,
  ) {
    this.protocol = link.options.protocol;
    this.opened$ = new Observable((subscriber) => {
      subscriber.complete();
    });
    this.messages$ = new Observable((reader) => {
      this.#reader = reader;
      if (this.#closed !== null) reader.complete();
      else this.#deliverLater();
      return () => {
        this.#reader = null;
      };
    });
  }

  get closed(): SocketClose | null {
    return this.#closed;
  }

  get writable(): boolean {
    return !this.#closing && this.#closed === null;
  }

  /** Bytes that were sent in this turn, and bytes that the stalled or paused other end has not read. */
  get bufferedAmount(): number {
    const other = this.link.other(this.side);
    return this.#leaving + (other.#isBlocked() ? other.#unreadBytes : 0);
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  holds(bytes: number): boolean {
    return this.bufferedAmount >= bytes;
  }

  send(message: Message): void {
    if (!this.writable) return;
    const bytes = encodedLength(message);
    if (this.#leaving === 0)
      soon(() => {
        this.#leaving = 0;
        this.#checkRoom();
      });
    this.#leaving += bytes;
    this.#sentBytes += bytes;
    this.link.carry(this.side, message);
  }

  turn(task: () => void): void {
    asyncScheduler.schedule(task);
  }

  whenBelow(bytes: number, task: () => void): void {
    this.#waiting = { bytes, task };
    this.#checkRoom();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#deliverLater();
  }

  /** Stops reading, as a process that hangs does, until {@link unstall}. */
  stall(): void {
    this.#stalled = true;
  }

  unstall(): void {
    this.#stalled = false;
    this.#deliverLater();
  }

  close(code: number, reason: string): void {
    if (!this.writable) return;
    this.#closing = true;
    this.#sendClose({ code, reason, wasClean: true });
  }

  terminate(reason = ''): void {
    this.end(abnormalClose(reason));
    this.#sendClose(abnormalClose());
  }

  /** Sends an item to this end. */
  enqueue(item: Item, delayMs: number): void {
    if (this.#closed !== null) return;
    this.#travelling.push(item);
    const now = asyncScheduler.now();
    this.#due = Math.max(this.#due, now + delayMs);
    if (this.#due > now) asyncScheduler.schedule(this.#arrive, Math.min(this.#due - now, LONGEST_TIMER_MS));
    else soon(this.#arrive);
  }

  end(close: SocketClose): void {
    if (this.#closed !== null) return;
    this.#closed = close;
    this.#travelling.clear();
    this.#arriving.clear();
    this.#unreadBytes = 0;
    this.#reader?.complete();
    this.link.ended();
  }

  // Each arrival takes the oldest item, whichever item scheduled it. So later messages never overtake earlier ones.
  readonly #arrive = (): void => {
    const item = this.#travelling.shift();
    if (item === undefined) return;
    this.#arriving.push(item);
    if ('message' in item) this.#unreadBytes += encodedLength(item.message);
    this.#deliver();
  };

  #isBlocked(): boolean {
    return this.#paused || this.#stalled;
  }

  #deliverLater(): void {
    if (this.#arriving.length > 0)
      soon(() => {
        this.#deliver();
      });
  }

  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    while (this.#reader !== null && !this.#isBlocked() && this.#closed === null) {
      const item = this.#arriving.shift();
      if (item === undefined) break;
      if ('close' in item) this.#closeHandshake(item.close);
      else {
        this.#unreadBytes -= encodedLength(item.message);
        this.#reader.next(item.message);
      }
    }
    this.#delivering = false;
    this.link.other(this.side).#checkRoom();
  }

  #closeHandshake(close: SocketClose): void {
    this.end(close);
    if (close.wasClean) this.#sendClose(close);
  }

  #sendClose(close: SocketClose): void {
    this.link.other(this.side).enqueue({ close }, this.link.latencyMs);
  }

  #checkRoom(): void {
    const waiting = this.#waiting;
    if (waiting === null || !this.writable || this.bufferedAmount > waiting.bytes) return;
    this.#waiting = null;
    this.turn(waiting.task);
  }
}
