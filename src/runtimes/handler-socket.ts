import { ReadyState, SocketEvents } from '../transport/transport.js';
import type { SocketLike } from '../transport/transport.js';
import { W3cTransport } from '../transport/w3c.js';
import { isArrayBuffer, optionError } from '../util/check.js';
import type { Message } from '../wire/codec.js';
import { CloseCode } from '../wire/codes.js';
import type { Admission, RequestServer } from './requests.js';

/** A socket whose runtime calls functions of its server in place of events. */
interface HandledSocket {
  close(code?: number, reason?: string): void;
  terminate(): void;
}

/** A {@link HandledSocket} with the interface of a WebSocket. */
class HandlerSocket extends SocketEvents implements SocketLike {
  binaryType = 'arraybuffer';
  #readyState: number = ReadyState.OPEN;

  constructor(
    private readonly below: HandledSocket,
    private readonly pass: (data: string | ArrayBuffer) => boolean,
    private readonly held: () => number,
    readonly protocol: string,
  ) {
    super();
  }

  get readyState(): number {
    return this.#readyState;
  }

  get bufferedAmount(): number {
    return this.held();
  }

  send(data: string | ArrayBuffer): void {
    if (!this.pass(data)) throw new Error('the runtime has dropped a message');
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
class HandlerTransport extends W3cTransport<HandlerSocket> {
  override readonly opaque = false;
  #waiting: { readonly bytes: number; readonly task: () => void } | null = null;

  heard(message: unknown): void {
    this.socket.heard(messageOf(message));
  }

  /** The socket has closed, without a code where its end had none. */
  ended(code: number = CloseCode.ABNORMAL, reason = ''): void {
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
}

/** The state that a runtime keeps for a socket: the peer's, from its admission on. */
export class SocketState {
  transport: HandlerTransport | null = null;

  constructor(
    private readonly server: RequestServer,
    private readonly admission: Admission,
  ) {}

  /**
   * The socket has opened.
   *
   * @param pass sends a message. Returns whether the runtime has taken it.
   * @param held returns the bytes that were sent and have not left yet
   */
  open(below: HandledSocket, pass: (data: string | ArrayBuffer) => boolean, held: () => number): void {
    this.transport = new HandlerTransport(new HandlerSocket(below, pass, held, this.server.protocol));
    this.server.take(this.admission, this.transport);
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
