import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { connect } from '../../src/index.js';
import type { SocketEvent, SocketLike } from '../../src/index.js';
import { portOf } from '../support/socket/handshake.js';
import { until, watchResources } from '../support/socket/leaks.js';
import { emptied, testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

/** A socket that dials again by itself at each loss, until it is closed, as several libraries do. */
class RedialingSocket implements SocketLike {
  readonly #target = new EventTarget();
  #isWanted = true;
  #socket: WebSocket;
  readonly #dial: () => WebSocket;

  constructor(url: string, protocol: string) {
    this.#dial = () => {
      const socket = new WebSocket(url, protocol);
      socket.binaryType = 'arraybuffer';
      socket.on('error', () => undefined);
      socket.on('open', () => this.#target.dispatchEvent(new Event('open')));
      socket.on('message', (data, isBinary) =>
        this.#target.dispatchEvent(new MessageEvent('message', { data: isBinary ? data : String(data) })),
      );
      socket.on('close', (code) => {
        // The next dial is already on its way when the listeners hear of the loss.
        queueMicrotask(() => {
          if (this.#isWanted) this.#socket = this.#dial();
        });
        this.#target.dispatchEvent(Object.assign(new Event('close'), { code, reason: '', wasClean: false }));
      });
      return socket;
    };
    this.#socket = this.#dial();
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  binaryType = 'arraybuffer';

  send(data: string | ArrayBuffer): void {
    this.#socket.send(data);
  }

  close(code?: number, reason?: string): void {
    this.#isWanted = false;
    this.#socket.close(code, reason);
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#target.addEventListener(type, listener);
  }

  removeEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#target.removeEventListener(type, listener);
  }
}

describe('a socket that dials again by itself', () => {
  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;

  beforeEach(async () => {
    leaks = watchResources();
    server = await testServer({ handler: (payload, stream) => stream.reply(payload) });
  });

  afterEach(async () => {
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  it('A peer keeps one connection over several losses, and none after its close', async () => {
    const lines = new Set<Duplex>();
    server.http.on('connection', (line: Duplex) => lines.add(line));
    const dialed: unknown[] = [];
    const peer = connect(`ws://127.0.0.1:${portOf(server.http)}`, {
      reconnect: { minDelayMs: 1, maxDelayMs: 1 },
      socket: (url, protocol) => {
        dialed.push(url);
        return new RedialingSocket(url, protocol);
      },
    });
    for (let loss = 1; loss <= 3; loss++) {
      expect(await peer.request(loss, { retry: 'safe' })).toBe(loss);
      lines.forEach((line) => {
        line.destroy();
      });
      await until('the next dial', () => dialed.length > loss);
    }
    expect(await peer.request('last', { retry: 'safe' })).toBe('last');
    await peer.close();
    await emptied(server.http);
    expect(server.peers).toHaveLength(dialed.length);
  });
});
