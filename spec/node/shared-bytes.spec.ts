import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { ReplaySubject, firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { connect, serve } from '../../src/node.js';
import { SharedPayload } from '../../src/index.js';
import type { Limits, Stream, StreamHandler } from '../../src/index.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { CODECS } from '../support/codec/shipped.js';
import { collectLogs } from '../support/peer/logs.js';
import { framesIn } from '../support/socket/frames.js';
import { portOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { until } from '../support/socket/leaks.js';

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

describe('A shared payload that need not wait', () => {
  const logs = collectLogs();
  const long = 'x'.repeat(1_000);

  /** A stream of the server that has sent one value, its peer there, and what its client receives. */
  async function answered(limits: Partial<Limits> = {}) {
    const streams$ = new ReplaySubject<Stream>(1);
    const handler: StreamHandler = (_payload, stream) => {
      void stream.send('first');
      streams$.next(stream);
      return new Promise<void>(() => undefined);
    };
    const server = serve({ server: http.now, keepalive: false, handler, limits });
    const client = connect(`ws://127.0.0.1:${portOf(http.now)}`, { keepalive: false });
    const received: unknown[] = [];
    /** The payloads of the server's frames, however its client takes them. */
    const arrived: unknown[] = [];
    client.onFrame((direction, { type, stream: id, payload, end: isEnd }) => {
      if (direction === 'rx' && id != null) arrived.push(typeof payload === 'string' ? payload : isEnd === true ? 'end' : type);
    });
    const ended = new Promise<unknown>((resolve) => {
      client.open$(null).subscribe({
        next: (value) => received.push(value),
        error: resolve,
        complete: () => {
          resolve(null);
        },
      });
    });
    const stream = await firstValueFrom(streams$);
    const end = async (): Promise<void> => {
      await client.close();
      await server.close();
    };
    return { stream, received, arrived, ended, end };
  }

  it('Frame observers see it, and statistics count it', async () => {
    const { stream, received, end } = await answered();
    const seen: unknown[] = [];
    const sizes: number[] = [];
    const before = stream.peer.stats().sent;
    const shared = new SharedPayload(long);
    void stream.send(shared);
    const remove = stream.peer.onFrame((direction, { type, stream: id, payload }) => seen.push([direction, type, id, payload]));
    void stream.send(shared);
    remove();
    const watching = stream.peer.frames$.subscribe(({ bytes }) => sizes.push(bytes));
    void stream.send(shared);
    watching.unsubscribe();
    void stream.send(shared);
    await until('all values', () => received.length === 5);
    expect(received).toEqual(['first', long, long, long, long]);
    expect(seen).toEqual([['tx', 'data', 1, long]]);
    const { frames, bytes } = stream.peer.stats().sent;
    expect([frames - before.frames, bytes - before.bytes]).toEqual([4, 4 * Number(sizes[0])]);
    expect(sizes).toHaveLength(1);
    await end();
  });

  it('It leaves in its turn, in pieces if it is too large for a message, and not after the end', async () => {
    const { stream, received, ended, end } = await answered();
    const huge = new SharedPayload('y'.repeat(200_000));
    const shared = new SharedPayload(long);
    for (const value of [shared, huge, shared, 'z', shared]) void stream.send(value);
    await stream.end();
    await expect(stream.send(shared)).rejects.toThrow('expected nothing to be sent after the end');
    expect(await ended).toBe(null);
    expect(received).toEqual(['first', long, huge.value, long, 'z', long]);
    expect(logs.warnings).toEqual([expect.stringContaining('a value was sent after the end and is lost')]);
    await end();
  });

  it('Code in it may send, observe or end the stream while it is encoded', async () => {
    const whileEncoded = async (act: (stream: Stream) => unknown): Promise<readonly unknown[]> => {
      const { stream, arrived, end } = await answered();
      const toJSON = (): string => {
        act(stream);
        return long;
      };
      void stream.send(new SharedPayload({ toJSON })).catch(() => undefined);
      await stream.peer.ping();
      await end();
      return arrived;
    };
    const seen: unknown[] = [];
    expect(await whileEncoded((stream) => stream.send('sent within'))).toEqual(['first', 'sent within', long]);
    expect(await whileEncoded(({ peer }) => peer.onFrame((_direction, { type }) => seen.push(type)))).toEqual(['first', long]);
    expect(await whileEncoded((stream) => stream.end())).toEqual(['first', 'end']);
    expect(
      await whileEncoded((stream) => {
        stream.reset(300, 'not now');
      }),
    ).toEqual(['first', 'reset']);
    expect(seen[0]).toBe('data');
  });

  it('It counts towards `maxUnsentBytes`', async () => {
    const { stream, ended, end } = await answered({ maxUnsentBytes: 100_000, sendHighWaterBytes: 50_000 });
    const shared = new SharedPayload('x'.repeat(50_000));
    let sent = 0;
    for (; stream.cause === null && sent < 1_000; sent++) void stream.send(shared);
    expect(sent).toBeLessThan(100);
    expect(stream.cause).toMatchObject({ how: 'reset', reason: 'the sender overflowed its queue' });
    expect(await ended).toBeInstanceOf(Error);
    expect(logs.errors).toEqual([expect.stringContaining('a handler failed')]);
    await end();
  });
});
