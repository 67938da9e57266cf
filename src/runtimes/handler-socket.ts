import { ReadyState, SocketEvents } from '../transport/transport.js';
import type { SocketLike } from '../transport/transport.js';
import { W3cTransport } from '../transport/w3c.js';
import { isArrayBuffer, optionError } from '../util/check.js';
import type { Message } from '../wire/codec.js';

/** A socket whose runtime calls functions of its server in place of events. */
export interface HandledSocket {
  /** Sends a message. Returns whether the runtime has taken it. */
  send(data: string | ArrayBuffer): boolean;
  close(code?: number, reason?: string): void;
  terminate(): void;
  /** Bytes that were sent and have not left yet. */
  held(): number;
}

/** A {@link HandledSocket} with the interface of a WebSocket. */
class HandlerSocket extends SocketEvents implements SocketLike {
  binaryType = 'arraybuffer';
  #readyState: number = ReadyState.OPEN;

  constructor(
    private readonly below: HandledSocket,
    readonly protocol: string,
  ) {
    super();
  }

  get readyState(): number {
    return this.#readyState;
  }

  get bufferedAmount(): number {
    return this.below.held();
  }

  send(data: string | ArrayBuffer): void {
    if (!this.below.send(data)) throw new Error('the runtime has dropped a message');
  }

  close(code?: number, reason?: string): void {
    if (this.#readyState !== ReadyState.OPEN) return;
    this.#readyState = ReadyState.CLOSING;
    this.below.close(code, reason);
  }

  terminate(): void {
    if (this.#readyState === ReadyState.CLOSED) return;
    this.#readyState = ReadyState.CLOSING;
    this.below.terminate();
  }

  heard(data: Message): void {
    this.dispatch({ type: 'message', data });
  }

  closed(code: number, reason: string): void {
    this.#readyState = ReadyState.CLOSED;
    this.dispatch({ type: 'close', code, reason });
  }
}

/** A transport over a socket whose runtime calls the methods `heard`, `drained` and `ended` of this class. */
export class HandlerTransport extends W3cTransport<HandlerSocket> {
  override readonly opaque = false;
  #waiting: { readonly bytes: number; readonly task: () => void } | null = null;

  constructor(below: HandledSocket, protocol: string) {
    super(new HandlerSocket(below, protocol));
  }

  heard(message: unknown): void {
    this.socket.heard(messageOf(message));
  }

  ended(code: number, reason = ''): void {
    this.socket.closed(code, reason);
  }

  /** The runtime has room again. {@link whenBelow} also polls, for runtimes that do not report it. */
  drained(): void {
    const waiting = this.#waiting;
    if (waiting === null || !this.writable || this.bufferedAmount > waiting.bytes) return;
    this.#waiting = null;
    this.turn(waiting.task);
  }

  override whenBelow(bytes: number, task: () => void): void {
    const waiting = (this.#waiting = { bytes, task });
    super.whenBelow(bytes, () => {
      if (this.#waiting !== waiting) return;
      this.#waiting = null;
      task();
    });
  }

  // A server may send each code.
  protected override closeCode(code: number): number {
    return code;
  }
}

/** Returns a message of a runtime as the codecs read it: bytes of their own in place of a view. */
function messageOf(data: unknown): Message {
  if (typeof data === 'string' || isArrayBuffer(data)) return data;
  if (!ArrayBuffer.isView(data)) throw optionError('message', 'text or bytes', data);
  const { buffer, byteOffset, byteLength } = data;
  if (isArrayBuffer(buffer) && byteLength === buffer.byteLength) return buffer;
  return new Uint8Array(new Uint8Array(buffer, byteOffset, byteLength)).buffer;
}
