import { Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { soon } from '../rx/soon.js';
import type { SocketClose } from '../transport/transport.js';
import { CloseCode } from '../wire/codes.js';
import type { Message } from '../wire/codec.js';
import type { Given } from '../util/check.js';
import { MemoryTransport } from './memory-transport.js';

/** A message on its way from one end to the other. */
export interface Carried {
  readonly from: Side;
  readonly message: Message;
  /** 1, 2, … per direction. */
  readonly nth: number;
}

/**
 * A fault of one message on its way:
 *
 * - `'drop'` loses the message
 * - `'duplicate'` delivers it twice
 * - `'cut'` ends the socket instead
 * - `delayMs` delays it and all later messages, since a socket never reorders
 * - `replace` delivers another message
 */
export type Fault =
  | 'drop'
  | 'duplicate'
  | 'cut'
  | {
      /** How much longer the message travels, in ms. */
      readonly delayMs: number;
    }
  | {
      /** The message that arrives instead. */
      readonly replace: Message;
    };

/** Whether a script has returned a fault. */
export function isFault(value: unknown): value is Fault {
  if (typeof value === 'object' && value !== null) return 'delayMs' in value || 'replace' in value;
  return value === 'drop' || value === 'duplicate' || value === 'cut';
}

/** Options of a link between two memory transports. */
export interface MemoryLinkOptions {
  /** The subprotocol that both ends report. */
  readonly protocol: string;
  /** How long each message travels, in ms of rxjs's clock. Default 0. */
  readonly latencyMs?: number | undefined;
  /** Decides about each message; `undefined` delivers it. */
  readonly fate?: ((carried: Carried) => Fault | undefined) | undefined;
}

/** One end of a link. */
export type Side = 'dialer' | 'acceptor';

/** The side at the other end of a link. */
export const OTHER_SIDE: Readonly<Record<Side, Side>> = { dialer: 'acceptor', acceptor: 'dialer' };

/** Joins two ends in memory. Messages travel in order, on the clock of rxjs, and never on the stack of their sender. */
export class MemoryLink {
  readonly ends: Readonly<Record<Side, MemoryTransport>>;
  readonly #carried = new Subject<Carried>();
  readonly #count: Record<Side, number> = { dialer: 0, acceptor: 0 };
  #severed = false;

  constructor(readonly options: MemoryLinkOptions) {
    this.ends = { dialer: new MemoryTransport(this, 'dialer'), acceptor: new MemoryTransport(this, 'acceptor') };
  }

  get latencyMs(): number {
    return this.options.latencyMs ?? 0;
  }

  /** Emits every message when it is sent. */
  get carried$(): Observable<Carried> {
    return this.#carried.asObservable();
  }

  /** Closes both ends without a handshake. */
  cut({ code = CloseCode.ABNORMAL, reason = '', wasClean = false }: Given<SocketClose> = {}): void {
    const lost: SocketClose = { code, reason, wasClean };
    this.ends.dialer.end(lost);
    this.ends.acceptor.end(lost);
  }

  /** Makes an end read `message` as if the other end had sent it. */
  inject(to: Side, message: Message): void {
    this.ends[to].enqueue({ message }, 0);
  }

  /** Carries one message from one end to the other. */
  carry(from: Side, message: Message): void {
    if (this.#severed) return;
    const carried = { from, message, nth: ++this.#count[from] };
    this.#carried.next(carried);
    const { latencyMs } = this;
    const to = this.other(from);
    const fate = this.options.fate?.(carried);
    if (fate === undefined) to.enqueue({ message }, latencyMs);
    else if (fate === 'cut') this.#sever();
    else if (fate === 'duplicate') for (const copy of [message, message]) to.enqueue({ message: copy }, latencyMs);
    else if (fate !== 'drop')
      to.enqueue({ message: 'replace' in fate ? fate.replace : message }, 'delayMs' in fate ? latencyMs + fate.delayMs : latencyMs);
  }

  other(end: Side): MemoryTransport {
    return this.ends[OTHER_SIDE[end]];
  }

  /** Called when an end has closed. After the second one the link carries nothing more. */
  ended(): void {
    if (this.ends.dialer.closed !== null && this.ends.acceptor.closed !== null) this.#carried.complete();
  }

  /** Cuts the line one turn later, as platforms report a cut: never on the stack of the sender. Meanwhile no message arrives. */
  #sever(): void {
    this.#severed = true;
    soon(() => {
      this.cut();
    });
  }
}
