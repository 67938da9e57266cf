import { createHash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { until } from './socket-leaks.js';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** A stream whose remote is the test: it pushes what is read, and keeps what is written. */
export class TestedStream extends Duplex {
  #written: Buffer[] = [];

  get written(): Buffer {
    return Buffer.concat(this.#written);
  }

  forget(): void {
    this.#written = [];
  }

  override _read(): void {
    // What comes in is pushed.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#written.push(chunk);
    done();
  }
}

/** A socket of `ws` over a stream of the test's, open, by either end of the handshake. */
export async function openWs(stream: TestedStream, accepted: boolean, maxPayload: number): Promise<WebSocket> {
  const ws = accepted ? acceptedWs(stream, maxPayload) : await dialedWs(stream, maxPayload);
  ws.binaryType = 'arraybuffer';
  stream.forget();
  return ws;
}

function acceptedWs(stream: TestedStream, maxPayload: number): WebSocket {
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.headers = { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-key': KEY, 'sec-websocket-version': '13' };
  const opened: WebSocket[] = [];
  new WebSocketServer({ noServer: true, maxPayload, clientTracking: false }).handleUpgrade(request, stream, Buffer.alloc(0), (ws) =>
    opened.push(ws),
  );
  const [ws] = opened;
  if (ws === undefined) throw new Error('the upgrade was not done within the call');
  return ws;
}

async function dialedWs(stream: TestedStream, maxPayload: number): Promise<WebSocket> {
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
