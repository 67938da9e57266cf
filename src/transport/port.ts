import { Subscription, fromEvent } from 'rxjs';
import { isArrayBuffer, optionError } from '../util/check.js';
import { Fifo } from '../util/collections.js';
import { CloseCode } from '../wire/codes.js';
import { refusesOffer } from '../wire/errors.js';
import { ReadyState, SocketEvents, abnormalClose } from './transport.js';
import type { SocketClose, SocketLike } from './transport.js';

/** The part of a MessagePort that `portSocket` uses. Ports of browsers, of `node:worker_threads`, and of Electron's main process have it. */
export interface PortLike {
  /** Sends one message to the other end. */
  postMessage(message: unknown): void;
  /** Begins to deliver messages. */
  start(): void;
  /** Ends the port. */
  close(): void;
}

/** Hears a port. */
export interface PortListener {
  readonly message: (data: unknown) => void;
  /** The other end, or its process, has gone. Older browsers do not report it. */
  readonly closed: () => void;
  /** The page of this end goes away. */
  readonly leaving: () => void;
}

/** Starts a port, and listens until the subscription ends. */
export function listenToPort(port: PortLike, { message, closed, leaving }: PortListener): Subscription {
  const target = port as PortLike & EventTarget;
  const listening = new Subscription();
  listening.add(
    fromEvent<MessageEvent>(target, 'message').subscribe(({ data }) => {
      message(data);
    }),
  );
  listening.add(fromEvent(target, 'close').subscribe(closed));
  // A message is missing, and the next one would take its place.
  listening.add(fromEvent(target, 'messageerror').subscribe(closed));
  if (typeof addEventListener === 'function')
    listening.add(
      fromEvent<PageTransitionEvent>(globalThis, 'pagehide').subscribe(({ persisted }) => {
        if (!persisted) leaving();
      }),
    );
  port.start();
  return listening;
}

/**
 * Messages between the two sockets themselves. The dialer offers a subprotocol (`open`), and the acceptor takes it
 * (`accept`) or closes. `read` has the bytes read so far. `end` is the last word of an end that closes without a handshake.
 */
export type Control =
  | readonly ['open' | 'accept', protocol: string]
  | readonly ['close', code: number, reason: string]
  | readonly ['read', bytes: number]
  | readonly ['end'];

/** Reads a message of the other end, which may be anybody's frame. `null` is for the socket's reader. */
export function controlOf(data: unknown): Control | null {
  if (!Array.isArray(data)) return null;
  const [type, first, second] = data as readonly unknown[];
  if ((type === 'open' || type === 'accept') && typeof first === 'string') return [type, first];
  if (type === 'close' && Number.isSafeInteger(first) && typeof second === 'string') return [type, Number(first), second];
  if (type === 'read' && Number.isSafeInteger(first)) return [type, Number(first)];
  return type === 'end' ? [type] : null;
}

/** Bytes or characters of a message, as both ends count them. */
export function sizeOf(data: string | ArrayBuffer | ArrayBufferView): number {
  return typeof data === 'string' ? data.length : data.byteLength;
}

/** The bytes of a view alone: a port would copy all of its buffer, and other bytes of the program with it. */
export function ownBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): ArrayBufferLike {
  return buffer.slice(byteOffset, byteOffset + byteLength);
}

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
  #isOfferRefused = false;
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
    return this.#isOfferRefused ? HTTP_BAD_REQUEST : null;
  }

  get answeredProtocol(): string | null {
    return this.#isOfferRefused ? '' : null;
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
    // Later, as other sockets do: the caller may still be passing on earlier messages.
    queueMicrotask(() => {
      this.#deliver();
    });
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
    this.#isOfferRefused = this.#readyState === ReadyState.CONNECTING && code === CloseCode.POLICY && refusesOffer(reason);
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
