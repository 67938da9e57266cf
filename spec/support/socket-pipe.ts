import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { WsUpgrader } from '../../src/transport/ws.js';
import type { WsTransport } from '../../src/transport/ws.js';

/** A TCP socket in the hands of a test: it counts its writes, and holds them when it is told to. */
export class FakeStream extends Duplex {
  /** Bytes of each write that reached the platform. */
  readonly writes: number[] = [];
  #take: (done: () => void) => void = (done) => {
    done();
  };
  readonly #held: (() => void)[] = [];

  /** Takes no byte more until {@link flow}. */
  hold(): void {
    this.#take = (done) => this.#held.push(done);
  }

  /** Takes what is held, and from then on each write in a turn of its own, as a socket does that was full. */
  flow(): void {
    this.#take = (done) => setImmediate(done);
    for (const done of this.#held.splice(0)) done();
  }

  override _read(): void {
    // What comes in is pushed.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.writes.push(chunk.length);
    this.#take(done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.writes.push(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0));
    this.#take(done);
  }
}

/** The accepting end of a WebSocket over a stream of the test's. */
export function acceptedOver(stream: FakeStream, maxPayload = 1024 * 1024): WsTransport {
  const transport = upgradedBy(new WsUpgrader('mux.v1.json', maxPayload), stream);
  if (typeof transport === 'string') throw new Error(transport);
  return transport;
}

/** What an upgrader makes of a good request over a stream of the test's. */
export function upgradedBy(upgrader: WsUpgrader, stream: FakeStream): WsTransport | string {
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.headers = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
    'sec-websocket-protocol': 'mux.v1.json',
  };
  return upgrader.upgrade(request, stream, Buffer.alloc(0));
}
