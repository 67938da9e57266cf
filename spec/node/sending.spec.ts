import { once } from 'node:events';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { share, Subject } from 'rxjs';
import { WebSocket, WebSocketServer } from 'ws';
import { encodeOnce, JsonCodec, QueueOverflowError } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect, handleUpgrade, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import type { Codec } from '../../src/wire/codec.js';
import { CODECS } from '../support/codec/shipped.js';
import { collectLogs } from '../support/peer/logs.js';
import { answerOn, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { until } from '../support/socket/leaks.js';
import { LINE_KINDS } from '../support/socket/lines.js';
import type { Line } from '../support/socket/lines.js';

describe('`server.notify`', () => {
  const http = httpServer();
  const logs = collectLogs();

  /** A server with several clients, and the notifications that each has received. */
  async function connected(count: number) {
    const server = serve({ server: http.now });
    const got: unknown[][] = [];
    const clients: Peer[] = [];
    for (let nth = 0; nth < count; nth++) {
      const received: unknown[] = [];
      got.push(received);
      const client = connect(`ws://127.0.0.1:${portOf(http.now)}`);
      client.onStream((payload, { headers }) => void received.push([payload, headers]));
      clients.push(await client.opened);
    }
    await until('all peers', () => server.peers.size === count);
    const end = async (): Promise<void> => {
      await Promise.all(clients.map((client) => client.close()));
      await server.close();
    };
    return { server, got, clients, end };
  }

  it('Every peer receives the payload and the headers, which are encoded once', async () => {
    const { server, got, end } = await connected(3);
    let asked = 0;
    const payload = { toJSON: () => ({ asked: ++asked }) };
    expect(server.notify(payload, { headers: { from: 'all' } })).toBe(3);
    await until('all notifications', () => got.every((received) => received.length === 1));
    expect(got).toEqual(Array(3).fill([[{ asked: 1 }, { from: 'all' }]]));
    await end();
  });

  it('`to` chooses peers', async () => {
    const { server, got, end } = await connected(3);
    const [, second] = [...server.peers];
    expect(server.notify('hi', { to: (peer) => peer === second })).toBe(1);
    await until('the notification', () => got.flat().length === 1);
    expect(got).toEqual([[], [['hi', {}]], []]);
    await end();
  });

  it.each<[what: string, close: (server: MuxServer) => Parameters<MuxServer['notify']>[1]]>([
    [
      '`to`',
      ({ peers: [first] }) => ({
        to: (peer) => {
          if (peer === first) void peer.close();
          return true;
        },
      }),
    ],
    [
      '`to`, ahead of its turn',
      ({ peers: [first, second] }) => ({
        to: (peer) => {
          if (peer === first) void second?.close();
          return true;
        },
      }),
    ],
    [
      'an interceptor',
      ({ peers: [first] }) => {
        first?.interceptOpen(() => {
          void first.close();
        });
        return {};
      },
    ],
  ])('A peer that %s closes does not count', async (_what, close) => {
    const { server, got, end } = await connected(2);
    expect(server.notify('hi', close(server))).toBe(1);
    await until('the notification and the end', () => got.flat().length === 1 && server.peers.size === 1);
    await end();
    expect(got.flat()).toHaveLength(1);
  });

  it('An asynchronous `to` is refused, and no peer receives the payload', async () => {
    const { server, got, end } = await connected(2);
    const to = (() => Promise.reject(new Error('no list'))) as unknown as () => boolean;
    expect(() => server.notify('secret', { to })).toThrow(new TypeError("expected the option 'to' to work synchronously, got a promise"));
    server.notify('hi');
    await until('all notifications', () => got.every((received) => received.length === 1));
    expect(got).toEqual(Array(2).fill([['hi', {}]]));
    await end();
  });

  it('A peer that drains is left out', async () => {
    const { server, got, end } = await connected(2);
    const [first] = [...server.peers];
    void first?.close({ drainMs: 60_000 });
    expect(server.notify('hi')).toBe(1);
    await until('the notification', () => got.flat().length === 1);
    await end();
    expect(logs.warnings).toEqual([]);
  });

  it('A peer is left out until onHello has accepted its hello', async () => {
    let admit: () => void = () => undefined;
    const admitted = new Promise<void>((resolve) => (admit = resolve));
    const server = serve({ server: http.now, onHello: (_, stream) => admitted.then(() => stream.reply('welcome')) });
    const got: unknown[] = [];
    const client = connect(`ws://127.0.0.1:${portOf(http.now)}`, { hello: () => ({ payload: 'me' }) });
    client.onStream((payload) => void got.push(payload));
    await until('the hello', () => [...server.peers].some((peer) => peer.stats().streams.remote === 1));
    expect(server.notify('for members')).toBe(0);
    admit();
    await client.opened;
    expect(server.notify('news')).toBe(1);
    await until('the notification', () => got.length > 0);
    expect(got).toEqual(['news']);
    await client.close();
    await server.close();
  });

  it('A peer without room is left out with a warning, and the others receive the payload', async () => {
    const { server, got, end } = await connected(2);
    const [first] = [...server.peers];
    first?.interceptOpen(() => {
      throw new QueueOverflowError('too much waits', { streamId: null, retriable: true });
    });
    expect(server.notify('hi')).toBe(1);
    await until('the notification', () => got.flat().length === 1);
    expect(logs.warnings).toEqual([expect.stringMatching(/^rxmux: Peer \d+ .* was not notified$/)]);
    await end();
  });

  it('The error of an interceptor fails the call', async () => {
    const { server, got, end } = await connected(1);
    const [first] = [...server.peers];
    first?.interceptOpen(() => {
      throw new Error('of an interceptor');
    });
    expect(() => server.notify('hi')).toThrow('of an interceptor');
    await end();
    expect(got.flat()).toEqual([]);
  });

  it('`server.notify` refuses a payload that cannot be encoded, and wrong options', async () => {
    const { server, end } = await connected(1);
    expect(() => server.notify(new Map())).toThrow(TypeError);
    expect(() => server.notify('hi', { to: 'all' as never })).toThrow(new TypeError("to: expected a function, got 'all'"));
    await end();
  });

  it('Observers, statistics and ids of a peer count it as `peer.notify`', async () => {
    const { server, got, end } = await connected(1);
    const [peer] = server.peers;
    if (peer === undefined) throw new Error('expected a peer');
    const counted = (act: () => unknown): unknown => {
      const seen: unknown[] = [];
      const before = peer.stats();
      const remove = peer.onFrame((direction, { type, payload, headers, end }) => seen.push([direction, type, payload, headers, end]));
      act();
      remove();
      const { sent, streams, ended } = peer.stats();
      const opened = streams.opened - before.streams.opened;
      return [
        seen,
        opened,
        streams.open,
        sent.frames - before.sent.frames,
        sent.bytes - before.sent.bytes,
        ended['ended'],
        server.stats().ended,
      ];
    };
    const byPeer = counted(() => {
      peer.notify('hi', { headers: { op: 'news' } });
    });
    const byServer = counted(() => server.notify('hi', { headers: { op: 'news' } }));
    expect(byPeer).toEqual([[['tx', 'open', 'hi', { op: 'news' }, true]], 1, 0, 1, expect.any(Number), 1, { ended: 1 }]);
    expect(byServer).toEqual([[['tx', 'open', 'hi', { op: 'news' }, true]], 1, 0, 1, (byPeer as number[])[4], 2, { ended: 2 }]);
    const ids: unknown[] = [];
    peer.onFrame((_direction, { stream }) => ids.push(stream));
    server.notify();
    peer.notify();
    expect(ids).toEqual([6, 8]);
    await until('all notifications', () => got.flat().length === 4);
    await end();
  });

  it('It leaves behind a large one, and behind what the code of its payload sends', async () => {
    const { server, got, end } = await connected(1);
    const large = 'x'.repeat(500_000);
    server.notify(large);
    server.notify('second');
    await until('both', () => got.flat().length === 2);
    server.notify({
      toJSON() {
        server.notify(large);
        server.notify('fourth');
        return 'fifth';
      },
    });
    await until('all', () => got.flat().length === 5);
    expect(got.flat()).toEqual([large, 'second', large, 'fourth', 'fifth'].map((payload) => [payload, {}]));
    await end();
  });

  it('One whose frame cannot be encoded costs only itself', async () => {
    class Picky extends JsonCodec {
      override encodeWith(...[frame, payload]: Parameters<JsonCodec['encodeWith']>): ReturnType<JsonCodec['encodeWith']> {
        if (frame.payload === 'bad') throw new Error('picky');
        return super.encodeWith(frame, payload);
      }
    }
    const server = serve({ server: http.now, codec: new Picky() });
    const got: unknown[] = [];
    const client = connect(`ws://127.0.0.1:${portOf(http.now)}`);
    client.onStream((payload) => void got.push(payload));
    await client.opened;
    for (const payload of ['bad', 'good']) server.notify(payload);
    await until('the good one', () => got.length > 0);
    expect(got).toEqual(['good']);
    expect(logs.errors).toEqual([`rxmux: stream 2: a frame of type 'open' could not be encoded`]);
    await client.close();
    await server.close();
  });

  it('A server without peers notifies none', async () => {
    const { server, end } = await connected(0);
    expect(server.notify('hi')).toBe(0);
    await end();
  });
});

describe('slow subscriber', () => {
  const http = httpServer();
  const url = (): string => `ws://127.0.0.1:${portOf(http.now)}`;
  const READERS = 6;
  const VALUES = 60;
  const VALUE_BYTES = 40_000;

  interface Value {
    readonly n: number;
    readonly text: string;
  }

  /** Records the memory of the values that sockets write. A socket writes it itself, or a part of it. */
  function memoryOfValues(): Set<ArrayBufferLike> {
    const memory = new Set<ArrayBufferLike>();
    const written = Object.getPrototypeOf(Socket.prototype) as Pick<Socket, 'write'>;
    jest.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: unknown[]) {
      const [chunk] = args;
      if (chunk instanceof Uint8Array && chunk.length >= VALUE_BYTES) memory.add(chunk.buffer);
      return written.write.apply(this, args as Parameters<Socket['write']>);
    });
    return memory;
  }

  /** Subscribes, and stands still. Returns the values that it has received, and a function that begins to read. */
  async function standing(codec: Codec): Promise<{ readonly got: readonly number[]; readonly read: () => void; readonly end: () => void }> {
    const ws = new WebSocket(url(), [`mux.v1.${codec.name}`], { perMessageDeflate: false });
    const got: number[] = [];
    ws.on('message', (data: Buffer) => {
      const { type, nonce, payload } = codec.decode(codec.binary ? new Uint8Array(data).buffer : data.toString());
      if (type === 'ping') ws.send(codec.encode({ type: 'pong', nonce }));
      if (type === 'data') got.push((payload as Value).n);
    });
    await once(ws, 'open');
    ws.pause();
    ws.send(codec.encode({ type: 'open', stream: 1, end: true }));
    return {
      got,
      read: () => {
        ws.resume();
      },
      end: () => {
        ws.terminate();
      },
    };
  }

  afterEach(() => {
    jest.restoreAllMocks();
  });

  describe.each(CODECS)('A broadcast under %s', (_name, codec) => {
    it('A subscriber that stands still holds up no other, and all sockets together hold each value once', async () => {
      const values$ = new Subject<Value>();
      const shared$ = values$.pipe(encodeOnce(), share());
      let subscribers = 0;
      const server = serve({
        server: http.now,
        codec,
        keepalive: false,
        handler: (_payload, stream) => {
          subscribers++;
          return stream.sendAll(shared$);
        },
      });
      const memory = memoryOfValues();
      const readers = Array.from({ length: READERS }, () => connect(url(), { codec, keepalive: false }));
      let ended = 0;
      const got = readers.map((peer) => {
        const numbers: number[] = [];
        peer.open$<Value>().subscribe({
          next: ({ n }) => numbers.push(n),
          complete: () => ended++,
        });
        return numbers;
      });
      const slow = await standing(codec);
      await until('all subscribers', () => subscribers === READERS + 1);
      for (let n = 0; n < VALUES; n++) {
        values$.next({ n, text: 'x'.repeat(VALUE_BYTES) });
        await until('the value at each reader', () => got.every((numbers) => numbers.length > n));
      }
      const unsent = [...server.peers].map(({ bufferedAmount }) => bufferedAmount).filter((bytes) => bytes > 0);
      expect(unsent).toEqual([expect.any(Number)]);
      expect(slow.got).toEqual([]);
      slow.read();
      await until('all values', () => slow.got.length === VALUES);
      const numbers = Array.from({ length: VALUES }, (_, n) => n);
      expect([...got, slow.got]).toEqual(Array(READERS + 1).fill(numbers));
      expect(memory.size).toBe(VALUES);
      values$.complete();
      await until('the end of all streams', () => ended === READERS);
      slow.end();
      await Promise.all(readers.map((peer) => peer.close()));
      await server.close();
    });
  });
});

describe('maxMessageBytes', () => {
  const MAX = 65_536;
  const http = httpServer();

  /** The header alone of a text message of `bytes`. A client masks its messages, here with zeros. */
  function announced(bytes: number, masked: boolean): Buffer {
    const header = Buffer.alloc(masked ? 14 : 10);
    header.writeUInt8(0x81, 0);
    header.writeUInt8(masked ? 0xff : 0x7f, 1);
    header.writeBigUInt64BE(BigInt(bytes), 2);
    return header;
  }

  it('A server closes the connection at the header of a message over maxMessageBytes', async () => {
    const next = new Promise<Peer>((resolve) => {
      http.now.once('upgrade', (...upgrade) => {
        resolve(handleUpgrade(...upgrade, { keepalive: false, limits: { maxMessageBytes: MAX } }));
      });
    });
    const dialer = await rawSocket(http.now);
    dialer.write(requestOf());
    expect((await answerOn(dialer)).status).toBe(101);
    const peer = await next;
    dialer.write(announced(MAX + 1, true));
    dialer.on('end', () => dialer.end());
    expect(await peer.closed).toMatchObject({ code: 1009 });
    dialer.destroy();
  });

  it('A dialer closes the connection at the header of a message over maxMessageBytes', async () => {
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'mux.v1.json' });
    http.now.once('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, () => socket.write(announced(MAX + 1, false)));
    });
    const dialer = connect(`ws://127.0.0.1:${portOf(http.now)}`, { keepalive: false, limits: { maxMessageBytes: MAX } });
    expect(await dialer.closed).toMatchObject({ code: 1009 });
  });
});

describe('read share', () => {
  const BURN_MS = 20;
  const REQUESTS = 12;
  const MAY_SHARE_A_TURN = 3;

  /** Counts turns of the event loop until it is stopped. */
  class Turns {
    count = 0;
    #next = setImmediate(() => {
      this.#pass();
    });

    stop(): void {
      clearImmediate(this.#next);
    }

    #pass(): void {
      this.count++;
      this.#next = setImmediate(() => {
        this.#pass();
      });
    }
  }

  function burn(): void {
    for (const end = performance.now() + BURN_MS; performance.now() < end;);
  }

  let turns: Turns;
  let line: Line;

  afterEach(async () => {
    turns.stop();
    await line.dispose();
  });

  describe.each(LINE_KINDS.filter(({ name }) => name === 'ws' || name === 'ws over TLS'))('reads over $name', (kind) => {
    it.each([
      ['json', new JsonCodec(), 'x'],
      ['json, over 1 KiB each', new JsonCodec(), 'x'.repeat(2_000)],
      ['msgpack', new MsgpackCodec(), 'x'],
    ])('A server handles slow requests of one read in several turns of the event loop (%s)', async (_what, codec, payload) => {
      turns = new Turns();
      const seen: number[] = [];
      line = await kind.join({
        codec,
        acceptor: {
          handler: (_payload, stream) => {
            seen.push(turns.count);
            burn();
            return stream.reply(seen.length);
          },
        },
      });
      const answers = await Promise.all(Array.from({ length: REQUESTS }, () => line.dialer.request(payload)));
      expect(answers).toEqual(Array.from({ length: REQUESTS }, (_, n) => n + 1));
      expect(new Set(seen).size).toBeGreaterThanOrEqual(REQUESTS / MAY_SHARE_A_TURN);
    });
  });
});
