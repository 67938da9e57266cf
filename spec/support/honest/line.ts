import { asyncScheduler, Observable } from 'rxjs';
import type { MemoryTransport } from '../../../src/testing/memory-transport.js';
import type { SocketClose, Transport } from '../../../src/transport/transport.js';
import type { Message } from '../../../src/wire/codec.js';
import { Fifo } from '../../../src/util/collections.js';
import { encodedLength } from '../../../src/wire/length.js';
import { networkTimer, offMachines } from './machine.js';
import type { Machine } from './machine.js';

/** The route from one end to the other. */
export interface Route {
  /** How long each message travels after its last byte, in ms. Default 0. */
  readonly latencyMs?: number;
  /** Default: no limit. */
  readonly bytesPerSecond?: number;
  /** Whether the end that sends on this route can pause its reading; a browser cannot. Default `true`. */
  readonly pausable?: boolean;
}

interface Travelling {
  /** When it arrives, on the network's clock. */
  readonly at: number;
  readonly item: Message | Pick<SocketClose, 'code' | 'reason'>;
}

const NOTHING = (): void => undefined;

/** One end of a memory link with latency, on a machine. `bufferedAmount` counts the bytes that the line has not taken yet. */
export class RoutedTransport implements Transport {
  readonly messages$: Observable<Message>;
  sentBytes = 0;
  readonly #travelling = new Fifo<Travelling>();
  readonly #latencyMs: number;
  readonly #msPerByte: number;
  readonly #pausable: boolean;
  /** When the line will have taken everything. */
  #freeAt = 0;
  #readers = 0;
  #cancelArrival = NOTHING;
  #cancelRoom = NOTHING;

  constructor(
    private readonly inner: MemoryTransport,
    readonly machine: Machine,
    { latencyMs = 0, bytesPerSecond = Infinity, pausable = true }: Route,
  ) {
    this.#latencyMs = latencyMs;
    this.#msPerByte = 1_000 / bytesPerSecond;
    this.#pausable = pausable;
    this.messages$ = new Observable((reader) => {
      this.#readers++;
      reader.add(() => this.#readers--);
      const subscription = inner.messages$.subscribe({
        next: (message) => {
          machine.run(() => {
            reader.next(message);
          });
        },
        complete: () => {
          this.#clear();
          machine.run(() => {
            reader.complete();
          });
        },
      });
      reader.add(subscription);
    });
  }

  get protocol(): string {
    return this.inner.protocol;
  }

  get opaque(): boolean {
    return this.inner.opaque;
  }

  get writable(): boolean {
    return this.inner.writable;
  }

  get refusedStatus(): null {
    return this.inner.refusedStatus;
  }

  get opened$(): Observable<never> {
    return this.inner.opened$;
  }

  get closed(): SocketClose | null {
    return this.inner.closed;
  }

  get bufferedAmount(): number {
    return this.#untaken + this.inner.bufferedAmount;
  }

  /** How many readers, messages and timers this end still has. */
  get left(): number {
    return this.#readers + this.#travelling.length + [this.#cancelArrival, this.#cancelRoom].filter((cancel) => cancel !== NOTHING).length;
  }

  holds(bytes: number): boolean {
    return this.bufferedAmount >= bytes;
  }

  send(message: Message): void {
    if (this.closed !== null) return;
    const bytes = encodedLength(message);
    if (this.#msPerByte > 0) this.#freeAt = Math.max(this.#freeAt, asyncScheduler.now()) + bytes * this.#msPerByte;
    this.#travel(message);
    this.sentBytes += bytes;
  }

  turn(task: () => void): void {
    offMachines(() => {
      this.inner.turn(() => {
        this.machine.run(task);
      });
    });
  }

  whenBelow(bytes: number, task: () => void): void {
    this.#cancelRoom();
    this.#cancelRoom = NOTHING;
    const surplus = this.#untaken - bytes;
    if (surplus > 0)
      this.#cancelRoom = networkTimer(Math.ceil(surplus * this.#msPerByte), () => {
        this.whenBelow(bytes, task);
      });
    else
      offMachines(() => {
        this.inner.whenBelow(bytes, () => {
          this.machine.run(task);
        });
      });
  }

  pause(): void {
    if (this.#pausable) this.inner.pause();
  }

  resume(): void {
    this.inner.resume();
  }

  /** The machine sleeps for `ms`. It reads nothing, and runs its timers first when it wakes up. */
  sleep(ms: number): void {
    this.inner.stall();
    networkTimer(ms, () => {
      networkTimer(0, () => {
        this.inner.unstall();
      });
    });
  }

  close(code: number, reason: string): void {
    this.#travel({ code, reason });
  }

  terminate(reason?: string): void {
    this.#clear();
    this.inner.terminate(reason);
  }

  get #untaken(): number {
    return this.#msPerByte === 0 ? 0 : Math.max(0, Math.ceil((this.#freeAt - asyncScheduler.now()) / this.#msPerByte));
  }

  #travel(item: Travelling['item']): void {
    if (this.#latencyMs === 0 && this.#freeAt === 0) {
      this.#give(item);
      return;
    }
    this.#travelling.push({ item, at: Math.max(this.#freeAt, asyncScheduler.now()) + this.#latencyMs });
    if (this.#travelling.length === 1) this.#awaitArrival();
  }

  #awaitArrival(): void {
    const next = this.#travelling.peek();
    if (next === undefined) return;
    this.#cancelArrival = networkTimer(Math.max(0, next.at - asyncScheduler.now()), () => {
      this.#cancelArrival = NOTHING;
      offMachines(() => {
        this.#arrive();
      });
      this.#awaitArrival();
    });
  }

  /** Delivers each message that is due. */
  #arrive(): void {
    for (let next = this.#travelling.peek(); next !== undefined && next.at <= asyncScheduler.now(); next = this.#travelling.peek()) {
      this.#travelling.shift();
      this.#give(next.item);
    }
  }

  #give(item: Travelling['item']): void {
    if (typeof item === 'object' && 'code' in item) this.inner.close(item.code, item.reason);
    else this.inner.send(item);
  }

  #clear(): void {
    this.#travelling.clear();
    this.#cancelArrival();
    this.#cancelRoom();
    this.#cancelArrival = this.#cancelRoom = NOTHING;
  }
}
