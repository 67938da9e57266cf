import { asapScheduler, asyncScheduler, Observable, Subject } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { CloseCode } from '../wire/close-reason.js';
import type { Message } from '../wire/codec.js';
import { encodedLength } from '../wire/length.js';
import { Fifo } from '../wire/fifo.js';
import type { SocketClose, Transport } from './transport.js';

/** One message on its way from one end to the other. */
export interface Carried<Side extends string = string> {
  readonly from: Side;
  readonly message: Message;
  /** 1, 2, … per direction. */
  readonly nth: number;
}

/** What happens to a message on the way; `undefined` delivers it. */
export type Fate = 'drop' | 'duplicate' | 'cut' | { readonly delayMs: number } | { readonly replace: Message } | undefined;

/** How two memory transports are joined. */
export interface MemoryLinkOptions {
  /** The subprotocol both ends report. */
  readonly protocol: string;
  /** How long each message travels, in ms of rxjs's clock. Default 0. */
  readonly latencyMs?: number | undefined;
  readonly fate?: ((carried: Carried<End>) => Fate) | undefined;
}

/** The two ends of a link. */
export type End = 'dialer' | 'acceptor';

const OTHER: Readonly<Record<End, End>> = { dialer: 'acceptor', acceptor: 'dialer' };

/** Two ends joined in memory. Messages travel in order, on rxjs's clock, and never on the stack of their sender. */
export class MemoryLink {
  readonly ends: Readonly<Record<End, MemoryTransport>>;
  readonly #carried = new Subject<Carried<End>>();
  readonly #count: Record<End, number> = { dialer: 0, acceptor: 0 };
  #severed = false;

  constructor(readonly options: MemoryLinkOptions) {
    this.ends = { dialer: new MemoryTransport(this, 'dialer'), acceptor: new MemoryTransport(this, 'acceptor') };
  }

  /** Every message as it is sent. */
  get carried$(): Observable<Carried<End>> {
    return this.#carried.asObservable();
  }

  /** Ends both ends without a handshake. */
  cut(close: Partial<SocketClose> = {}): void {
    const lost: SocketClose = { code: CloseCode.ABNORMAL, reason: '', wasClean: false, ...close };
    this.ends.dialer.end(lost);
    this.ends.acceptor.end(lost);
  }

  /** An end reads `message` as if the other end had sent it. */
  inject(to: End, message: Message): void {
    this.ends[to].enqueue({ message }, 0);
  }

  /** Carries one message from an end to the other. */
  carry(from: End, message: Message): void {
    if (this.#severed) return;
    const carried = { from, message, nth: ++this.#count[from] };
    this.#carried.next(carried);
    const to = this.ends[OTHER[from]];
    const fate = this.options.fate?.(carried);
    const latencyMs = this.options.latencyMs ?? 0;
    if (fate === undefined) to.enqueue({ message }, latencyMs);
    else if (fate === 'cut') this.#sever();
    else if (fate === 'duplicate') for (const copy of [message, message]) to.enqueue({ message: copy }, latencyMs);
    else if (fate !== 'drop')
      to.enqueue({ message: 'replace' in fate ? fate.replace : message }, 'delayMs' in fate ? latencyMs + fate.delayMs : latencyMs);
  }

  other(end: End): MemoryTransport {
    return this.ends[OTHER[end]];
  }

  /** An end has ended; behind the second there is nothing more to carry. */
  ended(): void {
    if (this.ends.dialer.closed !== null && this.ends.acceptor.closed !== null) this.#carried.complete();
  }

  /** Cuts the line a turn later, as a platform reports it: never on the stack of the sender. Nothing gets across meanwhile. */
  #sever(): void {
    this.#severed = true;
    asapScheduler.schedule(() => {
      this.cut();
    });
  }
}

type Item = { readonly message: Message } | { readonly close: SocketClose };

/** One end of a {@link MemoryLink}. */
export class MemoryTransport implements Transport {
  readonly protocol: string;
  readonly opaque = false;
  readonly refusedStatus = null;
  readonly messages$: Observable<Message>;
  readonly opened$: Observable<never>;
  /** What is on its way to this end, in the order of its sending. */
  readonly #travelling = new Fifo<Item>();
  /** What has arrived at this end and not been read, in order. */
  readonly #arriving = new Fifo<Item>();
  #unreadBytes = 0;
  #leaving = 0;
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
    private readonly side: End,
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

  /** What was sent in this turn, and what the other end has not read because it is stalled or paused. */
  get bufferedAmount(): number {
    const other = this.link.other(this.side);
    return this.#leaving + (other.#blocked ? other.#unreadBytes : 0);
  }

  send(message: Message): void {
    if (this.#closing || this.#closed !== null) return;
    if (this.#leaving === 0)
      asapScheduler.schedule(() => {
        this.#leaving = 0;
        this.#checkRoom();
      });
    this.#leaving += encodedLength(message);
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

  /** Stops reading, as a process that hangs does; only {@link unstall} ends it. */
  stall(): void {
    this.#stalled = true;
  }

  unstall(): void {
    this.#stalled = false;
    this.#deliverLater();
  }

  close(code: number, reason: string): void {
    if (this.#closing || this.#closed !== null) return;
    this.#closing = true;
    const close = { code, reason, wasClean: true };
    this.link.other(this.side).enqueue({ close }, this.link.options.latencyMs ?? 0);
  }

  terminate(reason = ''): void {
    const lost = { code: CloseCode.ABNORMAL, reason, wasClean: false };
    this.end(lost);
    this.link.other(this.side).enqueue({ close: { ...lost, reason: '' } }, this.link.options.latencyMs ?? 0);
  }

  /** Puts something on its way to this end. */
  enqueue(item: Item, delayMs: number): void {
    if (this.#closed !== null) return;
    this.#travelling.push(item);
    const now = asyncScheduler.now();
    this.#due = Math.max(this.#due, now + delayMs);
    if (this.#due > now) asyncScheduler.schedule(this.#arrive, this.#due - now);
    else asapScheduler.schedule(this.#arrive);
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

  // Each arrival takes what was sent first, whichever it was scheduled for: later messages never overtake earlier ones.
  readonly #arrive = (): void => {
    const item = this.#travelling.shift();
    if (item === undefined) return;
    this.#arriving.push(item);
    if ('message' in item) this.#unreadBytes += encodedLength(item.message);
    this.#deliver();
  };

  get #blocked(): boolean {
    return this.#paused || this.#stalled;
  }

  #deliverLater(): void {
    if (this.#arriving.length > 0)
      asapScheduler.schedule(() => {
        this.#deliver();
      });
  }

  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    while (this.#reader !== null && !this.#blocked && this.#closed === null) {
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
    const other = this.link.other(this.side);
    if (close.wasClean) other.enqueue({ close }, this.link.options.latencyMs ?? 0);
  }

  #checkRoom(): void {
    const waiting = this.#waiting;
    if (waiting === null || this.bufferedAmount > waiting.bytes) return;
    this.#waiting = null;
    this.turn(waiting.task);
  }
}
