import type { Subscription } from 'rxjs';
import { optionError } from '../wire/check.js';
import { CloseCode } from '../wire/close-reason.js';
import { isArrayBuffer } from '../wire/cross-realm.js';
import { Fifo } from '../wire/fifo.js';
import { listenToPort } from './port-events.js';
import type { PortLike } from './port-events.js';
import { controlOf, ownBytes, sizeOf } from './port-messages.js';
import type { Control } from './port-messages.js';
import { SocketEvents } from './socket-events.js';
import { ReadyState } from './socket-like.js';
import type { SocketLike } from './socket-like.js';
import { abnormalClose } from './transport.js';
import type { SocketClose } from './transport.js';

/** The reader acknowledges each time it has read this many bytes more. Less than that on its way counts as read. */
const READ_STEP_BYTES = 64 * 1024;
/** The status of a handshake with the wrong subprotocol (V2). */
const HTTP_BAD_REQUEST = 400;

const AWAITS_DIALER = 'the other end of the port has not dialed by portSocket(port, protocol), as the option socket of connect does';
const AWAITS_ACCEPTOR = 'the other end of the port has not answered: it accepts by portSocket(port) in a peer that serves';
const TWO_DIALERS = 'expected one end of the port to accept by portSocket(port), got two that dial';

type Item = Exclude<Control, readonly ['read', number]> | readonly ['message', data: unknown];

/**
 * Makes a socket of one end of a MessageChannel: of a worker, a SharedWorker, an iframe, `node:worker_threads`, or Electron. The other
 * end of the channel becomes a socket too. One end dials with the subprotocol that it offers. The other end accepts, and takes the
 * subprotocol of its dialer.
 *
 * Handshake, close codes and back-pressure work as over a WebSocket on Node. The socket owns the port: it starts and closes the port.
 *
 * A page that goes away notifies the other end. A page, worker or process that dies does not. Then the port's `close` event ends the
 * socket with 1006. Where the platform has no such event, keepalive notices: within 30 s by default.
 *
 * @param protocol what the dialer offers, as `connect` passes it. Default: this end accepts
 * @throws TypeError for a value that is no MessagePort, and for a port that has had a socket: another dial needs another port
 *
 * @example
 * ```ts
 * const { port1, port2 } = new MessageChannel();
 * const acceptor = new Peer(portSocket(port2), { isDialer: false, onStream: (payload, stream) => stream.reply(payload) });
 * void acceptor.serve();
 * const dialer = connect('ws://localhost', { socket: (_url, protocol) => portSocket(port1, protocol) });
 * await dialer.request('hi');   // 'hi'
 * ```
 */
export function portSocket(port: PortLike, protocol?: string): SocketLike {
  const { postMessage, start } = (port ?? {}) as Partial<PortLike>;
  if (typeof postMessage !== 'function') throw optionError('port', 'a MessagePort', port);
  if (typeof start !== 'function')
    throw new TypeError('port: expected a MessagePort, got a worker or window: pass it one end of a MessageChannel');
  if (protocol !== undefined && typeof protocol !== 'string') throw optionError('protocol', 'a string', protocol);
  if (used.has(port)) throw new TypeError('port: expected a fresh port for each socket, got one of another socket');
  used.add(port);
  return new PortSocket(port, protocol ?? null);
}

/** Ports that have a socket, or had one that has closed them. */
const used = new WeakSet<PortLike>();

class PortSocket extends SocketEvents implements SocketLike {
  /** Written by the interface of sockets; a port carries nothing else. */
  binaryType = 'arraybuffer';
  #readyState: number = ReadyState.CONNECTING;
  #protocol = '';
  #refusedStatus: number | null = null;
  /** Whether the other end waits for an answer to its offer. */
  #unanswered = false;
  #paused = false;
  /** Messages that arrived while this end was paused. */
  readonly #held = new Fifo<Item>();
  #delivering = false;
  #sentBytes = 0;
  /** Sent bytes that the other end has read. */
  #acknowledgedBytes = 0;
  #receivedBytes = 0;
  /** Received bytes that this end has acknowledged. */
  #reportedBytes = 0;
  readonly #listening: Subscription;

  /** @param offered the subprotocol that this end dials with; `null` accepts */
  constructor(
    private readonly port: PortLike,
    private readonly offered: string | null,
  ) {
    super();
    this.#listening = listenToPort(port, {
      message: this.#arrived,
      closed: this.#lost,
      leaving: () => {
        this.terminate();
      },
    });
    if (offered !== null) this.#post(['open', offered]);
  }

  get readyState(): number {
    return this.#readyState;
  }

  get protocol(): string {
    return this.#protocol;
  }

  get awaits(): string {
    return this.offered === null ? AWAITS_DIALER : AWAITS_ACCEPTOR;
  }

  get refusedStatus(): number | null {
    return this.#refusedStatus;
  }

  get bufferedAmount(): number {
    return Math.max(0, this.#sentBytes - this.#acknowledgedBytes - READ_STEP_BYTES);
  }

  send(data: string | ArrayBuffer | ArrayBufferView): void {
    if (this.#readyState !== ReadyState.OPEN) return;
    this.#accept();
    this.#sentBytes += sizeOf(data);
    this.port.postMessage(ArrayBuffer.isView(data) ? ownBytes(data) : data);
  }

  close(code: number = CloseCode.CLEAN, reason = ''): void {
    if (this.#readyState === ReadyState.CONNECTING) this.terminate();
    if (this.#readyState !== ReadyState.OPEN) return;
    this.#readyState = ReadyState.CLOSING;
    this.#post(['close', code, reason]);
  }

  terminate(): void {
    if (this.#readyState === ReadyState.CLOSED) return;
    this.#post(['end']);
    this.#end(abnormalClose());
  }

  pause(): void {
    this.#paused = true;
  }

  /** Reads, and so accepts the other end's offer. */
  resume(): void {
    if (this.#readyState === ReadyState.OPEN) this.#accept();
    this.#paused = false;
    this.#deliver();
  }

  #accept(): void {
    if (!this.#unanswered) return;
    this.#unanswered = false;
    this.#post(['accept', this.#protocol]);
  }

  #post(control: Control): void {
    this.port.postMessage(control);
  }

  readonly #arrived = (data: unknown): void => {
    const control = controlOf(data);
    // Not for the reader, which may be paused.
    if (control?.[0] === 'read') this.#acknowledgedBytes = Math.max(this.#acknowledgedBytes, Math.min(control[1], this.#sentBytes));
    else this.#held.push(control ?? ['message', data]);
    this.#deliver();
  };

  readonly #lost = (): void => {
    this.#held.push(['end']);
    this.#deliver();
  };

  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    while (!this.#paused && this.#readyState !== ReadyState.CLOSED) {
      const item = this.#held.shift();
      if (item === undefined) break;
      this.#handle(item);
    }
    this.#delivering = false;
  }

  #handle(item: Item): void {
    switch (item[0]) {
      case 'message':
        this.#read(item[1]);
        break;
      case 'close':
        this.#closed(item[1], item[2]);
        break;
      case 'end':
        this.#end(abnormalClose());
        break;
      case 'open':
      case 'accept':
        if (this.#readyState === ReadyState.CONNECTING) this.#open(item[1], item[0] === 'open');
    }
  }

  #open(protocol: string, isOffer: boolean): void {
    if (isOffer && this.offered !== null) {
      this.#end(abnormalClose(TWO_DIALERS));
      return;
    }
    this.#readyState = ReadyState.OPEN;
    this.#protocol = protocol;
    this.#unanswered = isOffer;
    this.dispatch({ type: 'open' });
  }

  #read(data: unknown): void {
    const isFrame = typeof data === 'string' || isArrayBuffer(data);
    if (!isFrame || this.#readyState === ReadyState.CONNECTING) {
      this.close(CloseCode.WRONG_MESSAGE_KIND, 'expected text or bytes');
      return;
    }
    this.dispatch({ type: 'message', data });
    this.#receivedBytes += sizeOf(data);
    if (this.#receivedBytes - this.#reportedBytes < READ_STEP_BYTES) return;
    this.#reportedBytes = this.#receivedBytes;
    this.#post(['read', this.#receivedBytes]);
  }

  /** The other end begins to close, or answers this end's close. */
  #closed(code: number, reason: string): void {
    if (this.#readyState === ReadyState.CONNECTING && code === CloseCode.POLICY) this.#refusedStatus = HTTP_BAD_REQUEST;
    if (this.#readyState !== ReadyState.CLOSING) this.#post(['close', code, reason]);
    this.#end({ code, reason, wasClean: true });
  }

  #end(close: SocketClose): void {
    this.#readyState = ReadyState.CLOSED;
    this.#held.clear();
    this.#listening.unsubscribe();
    this.port.close();
    this.dispatch({ type: 'close', ...close });
  }
}
