import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { serve } from '../../src/node.js';
import { SharedPayload } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { CODECS } from '../support/codec/shipped.js';
import { framesIn } from '../support/socket/frames.js';
import { portOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';

const http = httpServer();

/** Text that a writer copies whole, that it splits, that it writes beside its head, and that it cuts. */
const VALUES: readonly unknown[] = [
  'short',
  'x'.repeat(1_000),
  'é😀'.repeat(700),
  Array.from({ length: 100 }, (_, n) => ({ n, user: 'u-00421', tags: ['alpha', '"beta"'], live: true })),
  'y'.repeat(65_400),
  'z'.repeat(65_536),
  'naïve "quoted" 😀\n'.repeat(9_000),
];

/** A call for one of the values, as it is or shared. */
interface Asked {
  readonly nth: number;
  readonly isShared: boolean;
}

/** A client of bytes, whose first stream has a chosen id. */
class RawClient {
  readonly #chunks: Buffer[] = [];
  readonly #ws: WebSocket;
  #id: number;

  constructor(
    private readonly codec: Codec,
    firstId: number,
  ) {
    this.#id = firstId;
    this.#ws = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, [`mux.v1.${codec.name}`], { perMessageDeflate: false });
    this.#ws.once('upgrade', ({ socket }: IncomingMessage) => {
      socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    });
    // Without a pong the server would wait six seconds before it sends the rest of a long text.
    this.#ws.on('message', (data: Buffer) => {
      const { type, nonce } = this.#decoded(data);
      if (type === 'ping') this.#ws.send(codec.encode({ type: 'pong', nonce }));
    });
  }

  /** Every frame of the server but its pings, byte by byte, after calls for all values. */
  async answers(isShared: boolean): Promise<readonly Buffer[]> {
    await once(this.#ws, 'open');
    for (const nth of VALUES.keys()) await this.#ask({ nth, isShared });
    this.#ws.terminate();
    return framesIn(Buffer.concat(this.#chunks))
      .filter(({ content }) => this.#decoded(content).type !== 'ping')
      .map(({ bytes }) => bytes);
  }

  async #ask(payload: Asked): Promise<void> {
    const stream = this.#id;
    this.#id += 2;
    const ended = new Promise<void>((resolve) => {
      const heard = (data: Buffer): void => {
        const frame = this.#decoded(data);
        if (frame.stream !== stream || frame.end !== true) return;
        this.#ws.off('message', heard);
        resolve();
      };
      this.#ws.on('message', heard);
    });
    this.#ws.send(this.codec.encode({ type: 'open', stream, payload, end: true }));
    await ended;
  }

  #decoded(content: Buffer): ReturnType<Codec['decode']> {
    const message: Message = this.codec.binary ? new Uint8Array(content).buffer : content.toString();
    return this.codec.decode(message);
  }
}

describe.each(CODECS)('Shared payloads under %s', (_name, codec) => {
  it('A socket sends a shared payload in the same bytes as its value, alone and among other streams', async () => {
    const shared = VALUES.map((value) => new SharedPayload(value));
    const handler: StreamHandler = (payload, stream) => {
      const { nth, isShared } = payload as Asked;
      const value = isShared ? shared[nth] : VALUES[nth];
      void stream.send(value, { headers: { nth } });
      void stream.send(value);
      return stream.reply(value, { trailers: { nth } });
    };
    const server = serve({ server: http.now, codec, handler, keepalive: false });
    for (const firstId of [1, 1, 12_345]) {
      const [plain, sharing] = await Promise.all([false, true].map((isShared) => new RawClient(codec, firstId).answers(isShared)));
      expect(sharing?.map(({ length }) => length)).toEqual(plain?.map(({ length }) => length));
      expect(sharing?.every((bytes, n) => bytes.equals(plain?.[n] ?? Buffer.of()))).toBe(true);
      expect(plain?.length).toBeGreaterThan(3 * VALUES.length);
    }
    await server.close();
  });
});
