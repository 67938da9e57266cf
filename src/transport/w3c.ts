import { Observable, asyncScheduler } from 'rxjs';
import type { Subscriber, Subscription } from 'rxjs';
import { errorText, isError, optionError } from '../util/check.js';
import type { Message } from '../wire/codec.js';
import { CloseCode, browserCode } from '../wire/codes.js';
import { encodedLength, truncateToBytes } from '../wire/length.js';
import { ReadyState, abnormalClose, hasTurns, isSocket } from './transport.js';
import type { SocketClose, SocketEvent, SocketLike, Transport } from './transport.js';

// Captured before a test runner can install fake timers, which would block sockets.
const immediate = typeof setImmediate === 'function' ? setImmediate : null;

/** Runs a task one turn of the event loop later. Unlike a microtask, it runs after reading that is due. */
export const laterTurn: (task: () => void) => void = immediate === null ? throughChannel : (task) => void immediate(task);

/** {@link laterTurn} by a message over a channel. */
export function throughChannel(task: () => void): void {
  // jsdom has no channels.
  if (typeof MessageChannel === 'undefined') {
    setTimeout(task);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    task();
  };
  port2.postMessage(null);
}

/** The longest reason of a close frame (RFC 6455 §5.5). */
const MAX_REASON_BYTES = 123;

/** First and longest pause between two polls of `bufferedAmount`, in ms. The platform has no event for it. */
const FIRST_POLL_MS = 1;
const LONGEST_POLL_MS = 16;

/** A {@link Transport} over a browser's `WebSocket`, or over any socket with its interface. */
export class W3cTransport<Socket extends SocketLike = SocketLike> implements Transport {
  readonly opaque: boolean = true;
  #messageBytes: number | null = null;
  #sentBytes = 0;
  #closed: SocketClose | null = null;
  #reader: Subscriber<Message> | null = null;
  /** Messages that arrived before the first subscriber. There are few if the socket can be paused. */
  readonly #early: Message[] = [];
  #failure: unknown = undefined;
  #failureText = '';
  #opening: Subscriber<never> | null = null;
  #poll: Subscription | undefined;
  readonly #unlisten: () => void;

  constructor(protected readonly socket: Socket) {
    if (!isSocket(socket)) throw optionError('socket', 'a WebSocket', socket);
    socket.binaryType = 'arraybuffer';
    this.#unlisten = this.listen();
    socket.addEventListener('close', this.#onClose);
    // The close event came before this listener.
    if (socket.readyState === ReadyState.CLOSED) this.#closed = abnormalClose();
  }

  get opened$(): Observable<never> {
    return new Observable((waiting) => {
      const { socket } = this;
      const { readyState } = socket;
      // A socket that closes before it has opened is not open either; its close event is still due.
      const isPending = readyState === ReadyState.CONNECTING || (readyState === ReadyState.CLOSING && this.#closed === null);
      if (!isPending) {
        waiting.complete();
        return undefined;
      }
      this.#opening = waiting;
      const opened = (): void => {
        waiting.complete();
      };
      socket.addEventListener('open', opened);
      return () => {
        socket.removeEventListener('open', opened);
        this.#opening = null;
      };
    });
  }

  get messages$(): Observable<Message> {
    return new Observable((reader) => {
      this.#reader = reader;
      const early = this.#early.splice(0);
      // Resume a socket that `receive` paused, or that its owner paused until there is a reader. Leave other sockets alone: `ws` throws
      // while it aborts a handshake.
      if (early.length > 0 || this.writable) this.resume();
      for (const message of early) reader.next(message);
      if (this.#closed !== null) reader.complete();
    });
  }

  get protocol(): string {
    return this.socket.protocol;
  }

  get messageBytes(): number | null {
    return this.#messageBytes;
  }

  get closed(): SocketClose | null {
    return this.#closed;
  }

  get awaits(): string | undefined {
    return this.socket.awaits;
  }

  get refusedStatus(): number | null {
    return this.socket.refusedStatus ?? null;
  }

  get answeredProtocol(): string | null {
    return this.socket.answeredProtocol ?? null;
  }

  get failure(): unknown {
    return this.#failure;
  }

  get writable(): boolean {
    return this.socket.readyState === ReadyState.OPEN;
  }

  get bufferedAmount(): number {
    return this.socket.bufferedAmount ?? 0;
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  holds(bytes: number): boolean {
    return this.bufferedAmount >= bytes;
  }

  send(message: Message): void {
    if (!this.writable) return;
    try {
      this.socket.send(message);
      this.sent(message);
    } catch (error) {
      this.terminate(String(error));
    }
  }

  turn(task: () => void): void {
    if (hasTurns(this.socket)) this.socket.turn(task);
    else laterTurn(task);
  }

  whenBelow(bytes: number, task: () => void): void {
    const poll = (wait: number): void => {
      this.#poll?.unsubscribe();
      this.#poll = asyncScheduler.schedule(() => {
        if (!this.writable) return;
        if (this.bufferedAmount <= bytes) task();
        else poll(Math.min(wait * 2, LONGEST_POLL_MS));
      }, wait);
    };
    poll(FIRST_POLL_MS);
  }

  pause(): void {
    this.socket.pause?.();
  }

  resume(): void {
    this.socket.resume?.();
  }

  close(code: number, reason: string): void {
    if (this.#closed !== null) return;
    try {
      this.socket.close(this.closeCode(code), truncateToBytes(reason, MAX_REASON_BYTES));
    } catch {
      this.terminate();
    }
  }

  terminate(reason = ''): void {
    if (this.#closed !== null) return;
    this.end(abnormalClose(reason));
    try {
      if (this.socket.terminate === undefined) this.socket.close();
      else this.socket.terminate();
    } catch {
      // The transport has released the socket already. A timer may call this, and no code around it could catch the error.
    }
  }

  /** Counts a message that was passed to the socket. */
  protected sent(message: Message | Uint8Array): void {
    this.#sentBytes += encodedLength(message);
  }

  /** The close code that a program may send for `code` on this platform. */
  protected closeCode(code: number): number {
    return this.socket.terminate === undefined ? browserCode(code) : code;
  }

  /** Listens for messages and errors. Returns a function that stops listening for messages. */
  protected listen(): () => void {
    const { socket } = this;
    socket.addEventListener('error', (event) => {
      this.failed(event);
    });
    const heard = ({ data }: SocketEvent): void => {
      this.receive(data as Message);
    };
    socket.addEventListener('message', heard);
    return () => {
      socket.removeEventListener('message', heard);
    };
  }

  protected receive(message: Message, bytes: number | null = null): void {
    if (this.#closed !== null) return;
    if (this.#reader?.closed === false) {
      this.#messageBytes = bytes;
      this.#reader.next(message);
    } else this.keep(message);
  }

  /** A message arrives before its reader. */
  protected keep(message: Message): void {
    this.#early.push(message);
    this.pause();
  }

  protected failed({ message = '', error }: SocketEvent): void {
    this.#failure = error;
    // The bare name of an error says nothing: Node's own WebSocket has no more from version 24 on.
    const text = isError(error) ? errorText(error) : message;
    this.#failureText = isError(error) && text === error.name ? '' : text;
    if (this.socket.readyState !== ReadyState.OPEN) this.lost();
  }

  /** The socket has failed. The close event says more and usually follows at once. But Node 22 sends none after a failed dial. */
  protected lost(): void {
    this.turn(() => {
      this.#ended(abnormalClose(this.#failureText));
    });
  }

  /** Ends with the socket. One that dials again by itself must not live on without its peer. */
  #ended(close: SocketClose): void {
    if (this.#closed !== null) return;
    this.end(close);
    try {
      this.socket.close();
    } catch {
      // It has ended anyway.
    }
  }

  protected end(close: SocketClose): void {
    if (this.#closed !== null) return;
    this.#closed = close;
    this.#poll?.unsubscribe();
    this.#unlisten();
    this.socket.removeEventListener('close', this.#onClose);
    // Keep the error listener: an unhandled error of the ended socket would end the process.
    this.#opening?.complete();
    this.#reader?.complete();
  }

  readonly #onClose = (event: SocketEvent): void => {
    // Without a close frame some platforms report 0, and some report no code.
    const { code: reported = 0 } = event;
    const code = reported < CloseCode.CLEAN ? CloseCode.ABNORMAL : reported;
    const reason = event.reason === undefined || event.reason === '' ? this.#failureText : event.reason;
    this.#ended({ code, reason, wasClean: event.wasClean ?? code !== CloseCode.ABNORMAL });
  };
}
