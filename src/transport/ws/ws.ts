import type { Buffer } from 'node:buffer';
import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { finished } from 'node:stream';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { Subscription, asyncScheduler } from 'rxjs';
import { WebSocket, WebSocketServer } from 'ws';
import type { PerMessageDeflateOptions, RawData, ServerOptions } from 'ws';
import { isError, quoted } from '../../util/check.js';
import { getOrMake } from '../../util/collections.js';
import type { Codec, Message } from '../../wire/codec.js';
import { CloseCode } from '../../wire/codes.js';
import { refusesOffer } from '../../wire/errors.js';
import { MOST_BYTES_PER_UNIT, encodedLength } from '../../wire/length.js';
import { SplitMessage, sharedSlicer, splitDataEncoder, splitEncoder } from '../../wire/shared.js';
import type { DataEncoder, EncodedFrame, FrameEncoder } from '../../wire/shared.js';
import type { SocketClose, SocketEvent, SocketLike, Transport } from '../transport.js';
import { W3cTransport } from '../w3c.js';
import type { Deflate } from './deflate.js';
import { NodeSocket } from './read.js';
import { MAX_HEADER_BYTES } from './websocket-frame.js';
import { pooledEncoder } from './write.js';

/** Bun replaces `ws` by its own sockets, which are not on top of Node's streams. */
const IS_BUN = 'bun' in process.versions;
/** Makes `ws` emit each message that it need not inflate synchronously, within the read that completes it. */
const READ_AT_ONCE = { perMessageDeflate: false, allowSynchronousEvents: true } as const;
/** The code of the error that `ws` reports for a message over its `maxPayload`. `ws` itself answers with 1009. */
const TOO_BIG_ERROR = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';

/**
 * The time in ms that the remote has after a malformed frame, to read the close frame and to end its TCP connection. `ws` itself would wait for 30 s.
 */
const FAILED_MS = 2_000;

/**
 * A transport over a socket of the package `ws`. It can pause the socket, reports when there is room, and writes the messages of a turn
 * in one system call.
 */
export class WsTransport extends W3cTransport<WebSocket> {
  override readonly opaque = false;
  /** Only an accepted socket shares bytes with others: a dialed one masks them. */
  readonly encoder: NonNullable<Transport['encoder']> = pooledEncoder;
  readonly dataEncoder: Transport['dataEncoder'];
  readonly cut: Transport['cut'];
  /** Writes past `ws`. `null` unless the TCP or TLS stream below the socket is known, and for a socket that compresses. */
  #below: NodeSocket | null = null;
  /** Reads past `ws`. `null` unless that stream is known. */
  #reading: NodeSocket | null = null;
  /** Messages of at least this many bytes are compressed; `null` if the two ends have not agreed on it. */
  #thresholdBytes: number | null = null;
  #refusedStatus: number | null = null;
  #hint = '';
  #retryAfterMs: number | null = null;
  #answeredProtocol: string | null = null;
  #waiting: { readonly bytes: number; readonly task: () => void } | null = null;
  /** At least {@link bufferedAmount}: what it was when it was last measured, and the most that each later message takes. */
  #mostBuffered = Infinity;
  #tooBig = false;
  /** Closed, unless the socket has failed and its TCP connection is still open. */
  #failing = Subscription.EMPTY;

  /**
   * @param maxPayload bytes of one received message at most; `null` unless this file made the socket with {@link READ_AT_ONCE}
   * @param stream the stream below an accepted socket; for a dialed socket the transport finds it
   * @param deflate how to compress, if the two ends agree on it
   */
  constructor(ws: WebSocket, maxPayload: number | null = null, stream: Duplex | null = null, deflate: Deflate | null = null) {
    super(ws);
    if (stream !== null) {
      this.#over(stream, false, ws.extensions === '' ? null : deflate);
      this.#readPast(stream, maxPayload);
    }
    if (this.#below !== null) {
      this.encoder = sharingEncoder;
      this.dataEncoder = sharedDataEncoder;
      this.cut = sharedSlicer;
    }
    if (ws.readyState === WebSocket.CONNECTING) this.#hearHandshake(ws, maxPayload, deflate);
  }

  override get refusedStatus(): number | null {
    return this.#refusedStatus;
  }

  get hint(): string {
    return this.#hint;
  }

  get retryAfterMs(): number | null {
    return this.#retryAfterMs;
  }

  override get answeredProtocol(): string | null {
    return this.#answeredProtocol;
  }

  override send(message: EncodedFrame): void {
    if (!this.writable) return;
    this.#mostBuffered += (typeof message === 'string' ? message.length : message.byteLength) * MOST_BYTES_PER_UNIT + MAX_HEADER_BYTES;
    if (this.#below !== null) this.#below.add(message);
    else if (!(message instanceof SplitMessage)) {
      this.#sendByWs(message);
      this.sent(message);
    }
  }

  #sendByWs(message: Message | Uint8Array): void {
    const taken = (): void => {
      this.#checkRoom();
    };
    if (this.#thresholdBytes === null) this.socket.send(message, taken);
    else {
      // A copy: the message may wait for zlib, and its owner may change or transfer the bytes meanwhile. The bytes of a view do not change.
      const kept = typeof message === 'string' || ArrayBuffer.isView(message) ? message : message.slice(0);
      this.socket.send(kept, { compress: encodedLength(message) >= this.#thresholdBytes }, taken);
    }
  }

  override close(code: number, reason: string): void {
    this.#below?.flush();
    super.close(code, reason);
  }

  override get bufferedAmount(): number {
    return (this.#mostBuffered = this.socket.bufferedAmount + (this.#below?.bytes ?? 0));
  }

  override get sentBytes(): number {
    return super.sentBytes + (this.#below?.addedBytes ?? 0);
  }

  get framingBytes(): number {
    return this.#below?.headerBytes ?? 0;
  }

  override holds(bytes: number): boolean {
    return this.#mostBuffered >= bytes && this.bufferedAmount >= bytes;
  }

  override whenBelow(bytes: number, task: () => void): void {
    const isFirst = this.#waiting === null;
    this.#waiting = { bytes, task };
    if (isFirst) this.#checkRoom();
  }

  // The events of `ws` cost half as much as W3C events, and deliver text as the bytes that were sent.
  protected override listen(): () => void {
    const { socket } = this;
    socket.on('error', (error) => {
      this.failed({ type: 'error', error });
    });
    const heard = (data: RawData, isBinary: boolean): void => {
      this.receive(isBinary ? (data as ArrayBuffer) : (data as Buffer).toString());
    };
    socket.on('message', heard);
    return () => {
      socket.off('message', heard);
    };
  }

  protected override closeCode(code: number): number {
    return code;
  }

  protected override failed(event: SocketEvent): void {
    const { error } = event;
    this.#reading?.stopReading();
    this.#tooBig ||= isOversize(error);
    super.failed(event);
  }

  whenReleased(task: () => void): void {
    this.#failing.add(task);
  }

  // The session ends at once. The TCP connection stays open, so that the remote can read the close frame.
  protected override lost(): void {
    super.lost();
    if (this.socket.readyState !== WebSocket.CLOSING || this.#failing !== Subscription.EMPTY) return;
    const failing = asyncScheduler.schedule(() => {
      this.socket.terminate();
    }, FAILED_MS);
    this.#failing = failing;
    this.socket.once('close', () => {
      failing.unsubscribe();
    });
  }

  // `ws` reports 1006 if the remote could not answer the 1009.
  protected override end(close: SocketClose): void {
    super.end(this.#tooBig && close.code === CloseCode.ABNORMAL ? { ...close, code: CloseCode.TOO_BIG } : close);
  }

  // A method of its own: callbacks of the constructor would stay with the transport.
  #hearHandshake(ws: WebSocket, maxPayload: number | null, deflate: Deflate | null): void {
    const refused = (_request: ClientRequest, response: IncomingMessage): void => {
      const status = response.statusCode ?? 0;
      this.#refusedStatus = status;
      this.#retryAfterMs = retryAfterOf(response);
      const end = (line = ''): void => {
        if (refusesOffer(line)) this.#answeredProtocol = '';
        else this.#hint = status === HTTP_BAD_REQUEST ? `${line && `: ${quoted(line)}`}${tlsHint(ws)}` : (HINTS.get(status) ?? '');
        const error = new Error(`the handshake was answered with HTTP ${status}`);
        super.failed({ type: 'error', error });
        this.terminate(error.message);
      };
      if (status === HTTP_BAD_REQUEST) readLine(response, end);
      else end();
    };
    const failed = ({ code = '', message }: Error & { readonly code?: string }): void => {
      if (NO_ANSWER.test(code)) this.#hint = tlsHint(ws);
      else if (NO_TLS.test(message)) this.#hint = TLS_HINT;
    };
    ws.once('unexpected-response', refused);
    ws.once('error', failed);
    ws.once('upgrade', (response) => {
      // Where the answer names another extension, `ws` fails the handshake.
      this.#over(response.socket, true, response.headers['sec-websocket-extensions'] === undefined ? null : deflate);
      ws.once('open', () => {
        this.#readPast(response.socket, maxPayload);
      });
      this.#answeredProtocol = response.headers['sec-websocket-protocol'] ?? '';
      ws.off('unexpected-response', refused);
      ws.off('error', failed);
    });
  }

  /**
   * The socket is on top of `stream`.
   *
   * @param deflate how to compress; `null` if the two ends have not agreed on it
   */
  #over(stream: Duplex, masked: boolean, deflate: Deflate | null): void {
    if (deflate !== null) this.#thresholdBytes = deflate.thresholdBytes ?? 0;
    if (IS_BUN) return;
    this.#reading = new NodeSocket(stream, this.socket, masked);
    if (deflate === null) this.#below = this.#reading;
  }

  #readPast(stream: Duplex, maxPayload: number | null): void {
    // A stream of another class may read while it is written to, and so while its last read is still being received.
    if (maxPayload === null || !(stream instanceof Socket)) return;
    const receive = (message: Message, bytes: number): void => {
      this.receive(message, bytes);
    };
    this.#reading?.readPast(maxPayload, receive, this.#thresholdBytes !== null);
  }

  // Never runs the task itself: the callback comes from nextTick, and a pump that steps from there would starve reading and timers.
  #checkRoom(): void {
    const waiting = this.#waiting;
    if (waiting === null || !this.writable) return;
    if (this.bufferedAmount <= waiting.bytes) {
      this.#waiting = null;
      this.turn(waiting.task);
    } else {
      this.#below?.whenTaken(() => {
        this.#checkRoom();
      });
    }
  }
}

/** Made once for each codec: all connections of a server have the same. */
const SHARING = new WeakMap<Codec, FrameEncoder>();

function sharingEncoder(codec: Codec): FrameEncoder {
  return getOrMake(SHARING, codec, () => splitEncoder(codec, pooledEncoder(codec)));
}

/** As {@link SHARING}. */
const SHARED_DATA = new WeakMap<Codec, DataEncoder>();

function sharedDataEncoder(codec: Codec): DataEncoder {
  return getOrMake(SHARED_DATA, codec, () => splitDataEncoder(codec));
}

/** The status of a refused offer (V2), and of much else: a header that is too long, or a request that should have been TLS. */
const HTTP_BAD_REQUEST = 400;
/** The likely causes of other answers. */
const HINTS: ReadonlyMap<number, string> = new Map([
  [200, '; is this the path? a web server has answered, which knows of no WebSocket there'],
  [404, '; is this the path? the log of an rxmux server names the paths that would answer'],
  [426, '; a proxy on the way may not pass upgrades: it has to forward the headers Upgrade and Connection'],
]);
/** Codes of a handshake that was not answered in HTTP: with an alert of TLS, or not at all. */
const NO_ANSWER = /^(HPE_\w+|ECONNRESET)$/;
/** OpenSSL's texts for an answer without TLS: up to 3.1, and later. */
const NO_TLS = /wrong version number|(packet|data) length too long/;
const TLS_HINT = '; does this port speak TLS?';
/** The most text of an answer that is read, in UTF-16 units, and the longest time for it, in ms. */
const MOST_ANSWER = 2_048;
const ANSWER_MS = 1_000;

/** Reads an answer up to the end of its first line of text, without HTML tags. Calls `read` once. */
function readLine(response: IncomingMessage, read: (line: string) => void): void {
  let text = '';
  const done = (): void => {
    if (late.closed) return;
    late.unsubscribe();
    read(linesOf(text)[0] ?? '');
  };
  const late = asyncScheduler.schedule(done, ANSWER_MS);
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(0, MOST_ANSWER);
    if (text.length === MOST_ANSWER || linesOf(text.slice(0, text.lastIndexOf('\n') + 1)).length > 0) done();
  });
  finished(response, done);
}

function linesOf(page: string): readonly string[] {
  const lines = page.replace(/<[^<>]*>/g, '').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/** The question for a dial without TLS whose answer was no answer to a handshake. */
function tlsHint({ url }: WebSocket): string {
  return url.startsWith('ws:') ? TLS_HINT : '';
}

/** From this size on, a message gets smaller without the messages before it. */
const MIN_ALONE_BYTES = 1_024;
/** zlib keeps a table beside the window. It has the same size as the window if its level is lower than `windowBits` by this. */
const LEVEL_BELOW_BITS = 7;
/** `ws` keeps the size of a message in 32 bits, and takes a larger bound for none. */
const MOST_PAYLOAD = 2 ** 31 - 1;

/**
 * Returns the options of `ws` for an end that compresses. The window is asked for one direction, the own one: the other end may be unable to
 * choose its window, and its window takes only 32 KiB here.
 */
function wsOptionsOf(
  deflate: Deflate,
  maxPayload: number,
  side: 'server' | 'client',
): { readonly perMessageDeflate: PerMessageDeflateOptions; readonly maxPayload: number } {
  const { contextTakeover, thresholdBytes, windowBits } = deflate;
  return {
    perMessageDeflate: {
      [`${side}MaxWindowBits`]: windowBits,
      zlibDeflateOptions: { memLevel: windowBits - LEVEL_BELOW_BITS },
      threshold: thresholdBytes ?? MIN_ALONE_BYTES,
      ...(contextTakeover ? {} : { serverNoContextTakeover: true, clientNoContextTakeover: true }),
    },
    maxPayload: Math.min(maxPayload, MOST_PAYLOAD),
  };
}

/** Whether `ws` has failed a socket for a message over its `maxPayload`. */
export function isOversize(error: unknown): boolean {
  return isError(error) && 'code' in error && error.code === TOO_BIG_ERROR;
}

/** Options of a dial over `ws`. */
export interface WsDialOptions {
  readonly headers?: OutgoingHttpHeaders | undefined;
  readonly agent?: Agent | undefined;
  readonly tls?: ConnectionOptions | undefined;
  /** Bytes of one received message at most, inflated. */
  readonly maxPayload: number;
  /** Offers compression. Default `null`: none. */
  readonly deflate?: Deflate | null | undefined;
}

/** Dials with one subprotocol. */
export function dialWs(
  url: string,
  protocol: string,
  { headers = {}, agent, tls, maxPayload, deflate = null }: WsDialOptions,
): WsTransport {
  return new WsTransport(
    new WebSocket(url, [protocol], {
      ...tls,
      // Node would refuse a header that is `undefined`.
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
      ...(agent === undefined ? {} : { agent }),
      ...READ_AT_ONCE,
      maxPayload,
      ...(deflate === null ? {} : wsOptionsOf(deflate, maxPayload, 'client')),
    }),
    maxPayload,
    null,
    deflate,
  );
}

/** Completes accepted upgrades to one subprotocol. */
export class WsUpgrader {
  readonly #server: WebSocketServer;
  /** Made for the first offer of an extension. */
  #deflating: WebSocketServer | null = null;
  #outcome: WsTransport | string = '';

  /**
   * @param maxPayload bytes of one received message at most, inflated
   * @param deflate how to compress for a dialer that offers it; `null` declines
   */
  constructor(
    readonly protocol: string,
    private readonly maxPayload: number,
    private readonly deflate: Deflate | null = null,
  ) {
    this.#server = this.#serverWith({ maxPayload });
  }

  /** Returns the transport, or a text that says why the handshake is malformed after all. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): WsTransport | string {
    const { deflate, maxPayload } = this;
    if (deflate !== null && request.headers['sec-websocket-extensions'] !== undefined) {
      this.#deflating ??= this.#serverWith(wsOptionsOf(deflate, maxPayload, 'server'));
      const upgraded = this.#upgradeBy(this.#deflating, request, socket, head);
      if (typeof upgraded !== 'string') return upgraded;
      // Nothing is answered yet. `ws` would answer 400 to an offer that it cannot accept, but RFC 7692 §5 declines it.
    }
    return this.#upgradeBy(this.#server, request, socket, head);
  }

  #upgradeBy(server: WebSocketServer, request: IncomingMessage, socket: Duplex, head: Buffer): WsTransport | string {
    // Without a `verifyClient`, `handleUpgrade` does all its work before it returns. It leaves an ended socket alone.
    this.#outcome = 'the socket has ended';
    server.handleUpgrade(request, socket, head, (ws) => {
      this.#outcome = new WsTransport(ws, this.maxPayload, socket, this.deflate);
    });
    return this.#outcome;
  }

  #serverWith(options: Pick<ServerOptions, 'maxPayload' | 'perMessageDeflate'>): WebSocketServer {
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      ...READ_AT_ONCE,
      ...options,
      handleProtocols: () => this.protocol,
    });
    server.on('wsClientError', (error) => {
      this.#outcome = error.message;
    });
    return server;
  }
}

/** The transport for an open socket that the user passes: {@link WsTransport} if the socket has the calls of `ws`. */
export function transportOf(socket: SocketLike): W3cTransport {
  return isWs(socket) ? new WsTransport(socket) : new W3cTransport(socket);
}

/** The `Retry-After` header in ms; `null` for a date, because a date needs clocks that agree. */
function retryAfterOf({ headers }: IncomingMessage): number | null {
  const seconds = Number(headers['retry-after'] ?? NaN);
  return seconds >= 0 ? seconds * 1_000 : null;
}

function isWs(socket: unknown): socket is WebSocket {
  return typeof socket === 'object' && socket !== null && 'pause' in socket && 'once' in socket && 'terminate' in socket;
}
