import { createHash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { WsUpgrader } from '../../../src/transport/ws/ws.js';
import type { WsTransport } from '../../../src/transport/ws/ws.js';
import { until } from './leaks.js';

/** A TCP socket controlled by a test, which pushes the bytes to read. It records its writes, and can hold them back. */
export class FakeStream extends Duplex {
  /** Bytes of each write that reached the platform. */
  readonly writes: number[] = [];
  #written: Buffer[] = [];
  #take: (done: () => void) => void = (done) => {
    done();
  };
  readonly #held: (() => void)[] = [];

  /** All that reached the platform since {@link forget}. */
  get written(): Buffer {
    return Buffer.concat(this.#written);
  }

  forget(): void {
    this.writes.length = 0;
    this.#written = [];
  }

  /** Takes no byte more until {@link flow}. */
  hold(): void {
    this.#take = (done) => this.#held.push(done);
  }

  /** Takes the held bytes, and then each write in its own turn, like a socket that was full. */
  flow(): void {
    this.#take = (done) => setImmediate(done);
    for (const done of this.#held.splice(0)) done();
  }

  override _read(): void {
    // The test pushes incoming bytes.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#keep(chunk);
    this.#take(done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#keep(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    this.#take(done);
  }

  #keep(bytes: Buffer): void {
    this.writes.push(bytes.length);
    this.#written.push(bytes);
  }
}

/** The accepting end of a WebSocket over the test's stream. */
export function acceptedOver(stream: FakeStream, maxPayload = 1024 * 1024): WsTransport {
  const transport = upgradedBy(new WsUpgrader('mux.v1.json', maxPayload), stream);
  if (typeof transport === 'string') throw new Error(transport);
  return transport;
}

/** The upgrader's result for a good request over the test's stream. */
export function upgradedBy(upgrader: WsUpgrader, stream: FakeStream): WsTransport | string {
  return upgrader.upgrade(upgradeRequest(), stream, Buffer.alloc(0));
}

/** An open `ws` socket over the test's stream, as either end of the handshake. */
export async function openWs(stream: FakeStream, accepted: boolean, maxPayload: number): Promise<WebSocket> {
  const ws = accepted ? acceptedWs(stream, maxPayload) : await dialedWs(stream, maxPayload);
  ws.binaryType = 'arraybuffer';
  stream.forget();
  return ws;
}

function acceptedWs(stream: FakeStream, maxPayload: number): WebSocket {
  const opened: WebSocket[] = [];
  new WebSocketServer({ noServer: true, maxPayload, clientTracking: false }).handleUpgrade(
    upgradeRequest(),
    stream,
    Buffer.alloc(0),
    (ws) => opened.push(ws),
  );
  const [ws] = opened;
  if (ws === undefined) throw new Error('the upgrade was not done within the call');
  return ws;
}

async function dialedWs(stream: FakeStream, maxPayload: number): Promise<WebSocket> {
  const ws = new WebSocket('ws://example.org', { maxPayload, perMessageDeflate: false, createConnection: () => stream });
  const key = (): string | undefined => /sec-websocket-key: (.+)\r\n/i.exec(stream.written.toString())?.[1];
  await until('the request', () => key() !== undefined);
  const accept = createHash('sha1')
    .update(`${String(key())}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  stream.push(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  await until('the socket to open', () => ws.readyState === WebSocket.OPEN);
  return ws;
}

function upgradeRequest(): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.headers = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
    'sec-websocket-protocol': 'mux.v1.json',
  };
  return request;
}
