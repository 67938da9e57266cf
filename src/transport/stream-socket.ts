import { CloseCode } from '../wire/codes.js';
import type { Message } from '../wire/codec.js';
import { encodedLength } from '../wire/length.js';
import { ownBytes } from './port.js';
import { ReadyState, SocketEvents } from './transport.js';
import type { SocketClose, SocketLike } from './transport.js';

/** The end of a WebSocketStream: what its `closed` resolves with, or members of the error that it rejects with. */
interface CloseInfo {
  readonly closeCode?: number | null;
  readonly reason?: string;
}

/** The part of a WebSocketStream that a socket uses. */
export interface WebSocketStreamLike {
  readonly opened: Promise<{
    readonly protocol: string;
    readonly readable: ReadableStream<Message | Uint8Array>;
    readonly writable: WritableStream<Message>;
  }>;
  readonly closed: Promise<CloseInfo>;
  close(info?: CloseInfo): void;
}

function ignore(): void {
  // The promise `closed` reports how the socket has ended.
}

/**
 * A WebSocketStream with the interface of a WebSocket, and with reading that stops: during a pause the platform takes some 100 KiB more from the
 * line, and no more. Observed in Chromium 156:
 *
 * - The platform may not survive `close()` beside an unfinished write, so it waits for all writes.
 * - An unread stream drops its last messages once the other end closes. While a read is pending, it drops none.
 * - A closing handshake does not complete behind unread messages.
 */
export class StreamSocket extends SocketEvents implements SocketLike {
  /** Written by the interface of sockets. */
  binaryType = 'arraybuffer';
  #readyState: number = ReadyState.CONNECTING;
  #protocol = '';
  #bufferedAmount = 0;
  #reader: ReadableStreamDefaultReader<Message | Uint8Array> | undefined;
  #writer: WritableStreamDefaultWriter<Message> | undefined;
  /** The last write. Writes end in their order. */
  #written = Promise.resolve();
  #paused = false;
  #reading = false;
  /** The message of the read that was pending when a pause began. */
  #held: Message | Uint8Array | undefined;
  /** How the stream has ended, while its last messages are still to be read. */
  #end: SocketClose | null = null;

  constructor(private readonly stream: WebSocketStreamLike) {
    super();
    const ended =
      (wasClean: boolean) =>
      ({ closeCode, reason = '' }: CloseInfo): void => {
        this.#ended({ code: closeCode ?? CloseCode.ABNORMAL, reason, wasClean });
      };
    stream.closed.then(ended(true), ended(false));
    stream.opened.then(({ protocol, readable, writable }) => {
      this.#reader = readable.getReader();
      this.#writer = writable.getWriter();
      if (this.#readyState === ReadyState.CONNECTING) {
        this.#readyState = ReadyState.OPEN;
        this.#protocol = protocol;
        this.dispatch({ type: 'open' });
      }
      this.#read();
    }, ended(false));
  }

  get readyState(): number {
    return this.#readyState;
  }

  get protocol(): string {
    return this.#protocol;
  }

  get bufferedAmount(): number {
    return this.#bufferedAmount;
  }

  send(data: Message): void {
    if (this.#readyState !== ReadyState.OPEN || this.#writer === undefined) return;
    const bytes = encodedLength(data);
    this.#bufferedAmount += bytes;
    this.#written = this.#writer.write(data).then(() => {
      this.#bufferedAmount -= bytes;
    });
    this.#written.catch(ignore);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    // Later, as other sockets do: the caller may still be passing on earlier messages.
    queueMicrotask(() => {
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#holds()) return;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#deliver(held);
    this.#read();
  }

  /** Begins the closing handshake behind everything that was sent. Without a code it drops what is not written yet. */
  close(closeCode?: number, reason = ''): void {
    const state = this.#readyState;
    if (state === ReadyState.CLOSED) return;
    this.#readyState = ReadyState.CLOSING;
    this.resume();
    if (this.#writer === undefined) this.stream.close();
    else if (closeCode === undefined) this.#abort();
    else if (state === ReadyState.OPEN)
      this.#written
        .then(() => {
          this.stream.close({ closeCode, reason });
        })
        .catch(() => {
          this.#abort();
        });
  }

  #abort(): void {
    this.#writer?.abort().catch(ignore);
  }

  /** Keeps one read pending, except during a pause. */
  #read(): void {
    if (this.#holds() || this.#reading || this.#reader === undefined) return;
    this.#reading = true;
    const drained = (): void => {
      this.#reading = false;
      this.#finish();
    };
    this.#reader.read().then(({ value }) => {
      if (value === undefined) drained();
      else {
        this.#reading = false;
        if (this.#holds()) this.#held = value;
        else {
          this.#deliver(value);
          this.#read();
        }
      }
    }, drained);
  }

  /** Whether a pause holds messages. The few that are left at the end of the stream must precede its close event. */
  #holds(): boolean {
    return this.#paused && this.#end === null;
  }

  #deliver(data: Message | Uint8Array): void {
    this.dispatch({ type: 'message', data: ArrayBuffer.isView(data) ? ownBytes(data) : data });
  }

  #ended(close: SocketClose): void {
    this.#end ??= close;
    this.#goOn();
    if (!this.#reading) this.#finish();
  }

  #finish(): void {
    if (this.#end === null || this.#readyState === ReadyState.CLOSED) return;
    this.#readyState = ReadyState.CLOSED;
    this.dispatch({ type: 'close', ...this.#end });
  }
}
