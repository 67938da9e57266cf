import { EMPTY, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import type { SocketClose, Transport } from '../../../src/transport/transport.js';
import type { Message } from '../../../src/wire/codec.js';
import { encodedLength } from '../../../src/wire/length.js';

const LOST: SocketClose = { code: 1006, reason: '', wasClean: false };

/** A socket played by a test. It records sent messages; the test controls its incoming messages, buffer, turns and end. */
export class ScriptedTransport implements Transport {
  readonly protocol = 'mux.v1.json';
  readonly opaque = false;
  readonly refusedStatus = null;
  readonly opened$: Observable<never> = EMPTY;
  /** The messages sent while the socket was open, in order. */
  readonly sent: Message[] = [];
  /** Each call of {@link close}, in order. */
  readonly closes: { readonly code: number; readonly reason: string }[] = [];
  terminated: string | null = null;
  closed: SocketClose | null = null;
  bufferedAmount = 0;
  sentBytes = 0;
  /** Whether the socket takes nothing, so that sent messages stay in its buffer. */
  stuck = false;
  paused = false;
  /** Whether the remote has begun to close. */
  closing = false;
  /** Called with each message before it is kept. */
  onSend: (message: Message) => void = () => undefined;
  readonly #messages = new Subject<Message>();
  readonly #turns: (() => void)[] = [];
  #whenBelow: { readonly bytes: number; readonly task: () => void } | null = null;

  get messages$(): Observable<Message> {
    return this.closed === null ? this.#messages : EMPTY;
  }

  /** Whether a reader is subscribed. */
  get read(): boolean {
    return this.#messages.observed;
  }

  /** How many tasks wait for their turn. */
  get turnsDue(): number {
    return this.#turns.length;
  }

  /** The buffer size that the session waits for, in bytes; `null` while it does not wait. */
  get awaitedBytes(): number | null {
    return this.#whenBelow?.bytes ?? null;
  }

  get writable(): boolean {
    return !this.closing && this.closed === null && this.closes.length === 0;
  }

  holds(bytes: number): boolean {
    return this.bufferedAmount >= bytes;
  }

  send(message: Message): void {
    this.onSend(message);
    if (!this.writable) return;
    const bytes = encodedLength(message);
    if (this.stuck) this.bufferedAmount += bytes;
    this.sentBytes += bytes;
    this.sent.push(message);
  }

  turn(task: () => void): void {
    this.#turns.push(task);
  }

  whenBelow(bytes: number, task: () => void): void {
    this.#whenBelow = { bytes, task };
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  close(code: number, reason: string): void {
    this.closes.push({ code, reason });
  }

  terminate(reason = ''): void {
    this.terminated = reason;
    this.end({ ...LOST, reason });
  }

  // Actions of the test

  /** A message comes in. */
  receive(message: Message): void {
    this.#messages.next(message);
  }

  /** One turn of the event loop passes. */
  nextTurn(): void {
    for (const task of this.#turns.splice(0)) task();
  }

  /** Drains the socket's buffer down to `bytes`, and resumes the waiters for that size. */
  drainTo(bytes: number): void {
    this.bufferedAmount = bytes;
    const waiting = this.#whenBelow;
    if (waiting === null || bytes > waiting.bytes) return;
    this.#whenBelow = null;
    waiting.task();
  }

  /** Ends the socket. With `null` the platform reports no close code. */
  end(close: SocketClose | null = LOST): void {
    if (this.closed !== null) return;
    this.closed = close;
    this.#messages.complete();
  }
}
