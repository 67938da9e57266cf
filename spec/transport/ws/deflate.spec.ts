import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, filter, from, lastValueFrom, toArray } from 'rxjs';
import { JsonCodec } from '../../../src/codec/json.js';
import { MsgpackCodec } from '../../../src/codec/msgpack.js';
import type { Codec, Peer } from '../../../src/index.js';
import { connect, handleUpgrade, serve } from '../../../src/node.js';
import type { NodeConnectOptions, UpgradeOptions } from '../../../src/node.js';
import { handshake, portOf } from '../../support/socket/handshake.js';
import { watchResources } from '../../support/socket/leaks.js';
import { closing } from '../../support/socket/listening.js';

type Way = 'serve' | 'handleUpgrade';
type Answers = NonNullable<UpgradeOptions['handler']>;

describe('perMessageDeflate', () => {
  const CODECS: readonly (() => Codec)[] = [() => new JsonCodec(), () => new MsgpackCodec()];
  const WAYS: readonly Way[] = ['serve', 'handleUpgrade'];
  const ITEMS = Array.from({ length: 100 }, (_, id) => ({ id, name: `item ${id}`, price: id * 1.25, tags: ['a', 'b'] }));
  const BIG = Array.from({ length: 40_000 }, (_, n) => `line ${(n * 7919) % 40_009} of a long text`).join('\n');

  /** Answers an item with itself, `items` with all items, and `big` with a long text. Its `left` values wait until they are read. */
  const answers: Answers = async (payload, stream) => {
    if (payload === 'items') await stream.sendAll(from(ITEMS));
    else if (payload === 'big') await stream.reply(BIG);
    else await stream.reply(payload);
  };

  let leaks: ReturnType<typeof watchResources>;
  const ending: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    leaks = watchResources();
  });
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
    expect(await leaks()).toEqual({});
  });

  /** A server, and the sockets that it has upgraded. */
  interface Started {
    readonly http: Server;
    readonly sockets: Socket[];
  }

  async function started(way: Way, options: UpgradeOptions): Promise<Started> {
    const http = createServer();
    const sockets: Socket[] = [];
    const used: UpgradeOptions = {
      keepalive: false,
      handler: answers,
      onPeer: (_, request) => {
        if (request !== null) sockets.push(request.socket);
      },
      ...options,
    };
    if (way === 'serve') {
      const server = serve({ ...used, server: http });
      ending.push(() => server.close());
    } else http.on('upgrade', (request, socket, head: Buffer) => handleUpgrade(request, socket, head, used));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    ending.push(() => closing(http));
    return { http, sockets };
  }

  function dialed({ http }: Started, options: NodeConnectOptions): Peer {
    const peer = connect(`ws://127.0.0.1:${portOf(http)}`, { keepalive: false, ...options });
    ending.push(() => peer.close());
    return peer;
  }

  const CASES = CODECS.flatMap((codec) => WAYS.map((way) => [codec().name, way, codec] as const));

  /** The share of the encoded bytes that was written to the wire and read from it, after the handshake. */
  async function shares(server: Started, peer: Peer): Promise<readonly [written: number, read: number]> {
    await peer.opened;
    const [socket] = server.sockets;
    if (socket === undefined) throw new Error('expected a socket, got none');
    const [written, read] = [socket.bytesWritten, socket.bytesRead];
    for (const item of ITEMS) expect(await peer.request(item)).toEqual(item);
    const { sent, received } = peer.stats();
    return [(socket.bytesWritten - written) / received.bytes, (socket.bytesRead - read) / sent.bytes];
  }

  describe.each(CASES)('under %s by %s', (_name, way, codec) => {
    it('Both ends compress small messages if both were asked to', async () => {
      const server = await started(way, { codec: codec(), perMessageDeflate: true });
      const [written, read] = await shares(server, dialed(server, { codec: codec(), perMessageDeflate: true }));
      expect(written).toBeLessThan(0.5);
      expect(read).toBeLessThan(0.5);
    });

    it.each([
      ['only the server', { perMessageDeflate: true }, {}],
      ['only the dialer', {}, { perMessageDeflate: true }],
      ['neither end', { perMessageDeflate: false }, { perMessageDeflate: false }],
    ])('No message is compressed if %s was asked to', async (_who, ofServer, ofDialer) => {
      const server = await started(way, { codec: codec(), ...ofServer });
      const [written, read] = await shares(server, dialed(server, { codec: codec(), ...ofDialer }));
      expect(written).toBeGreaterThan(1);
      expect(read).toBeGreaterThan(1);
    });

    it('Long payloads arrive whole in both directions, beside small calls', async () => {
      const server = await started(way, { codec: codec(), perMessageDeflate: true });
      const peer = dialed(server, { codec: codec(), perMessageDeflate: true });
      const small = Promise.all(ITEMS.map((item) => peer.request(item)));
      const [up, down, all] = await Promise.all([peer.request({ BIG }), peer.request('big'), small]);
      expect([up, down, all]).toEqual([{ BIG }, BIG, ITEMS]);
    });

    it('Values arrive in order if only the longer ones are compressed', async () => {
      const perMessageDeflate = { thresholdBytes: 200 };
      const values = ITEMS.map(({ id }) => (id % 3 === 0 ? `${id} ${'long '.repeat(100)}` : id));
      const handler: Answers = (_, stream) => stream.sendAll(from(values));
      const server = await started(way, { codec: codec(), perMessageDeflate, handler });
      const peer = dialed(server, { codec: codec(), perMessageDeflate });
      expect(await lastValueFrom(peer.open$('values').pipe(toArray()))).toEqual(values);
    });
  });

  it('A dialer agrees on compression anew when it reconnects', async () => {
    const server = await started('serve', { perMessageDeflate: true });
    const peer = dialed(server, { perMessageDeflate: true, reconnect: { minDelayMs: 0, maxDelayMs: 0 } });
    expect(await lastValueFrom(peer.open$('items').pipe(toArray()))).toEqual(ITEMS);
    server.sockets[0]?.resetAndDestroy();
    await firstValueFrom(peer.status$.pipe(filter(({ state }) => state !== 'open')));
    expect(await lastValueFrom(peer.open$('items').pipe(toArray()))).toEqual(ITEMS);
    expect(server.sockets).toHaveLength(2);
    expect(Number(server.sockets[1]?.bytesWritten)).toBeLessThan(JSON.stringify(ITEMS).length);
  });

  it('Context takeover makes the difference for small messages', async () => {
    const shareWith = async (contextTakeover: boolean): Promise<number> => {
      const server = await started('serve', { perMessageDeflate: { contextTakeover, thresholdBytes: 0 } });
      return (await shares(server, dialed(server, { perMessageDeflate: true })))[0];
    };
    const [withIt, without] = [await shareWith(true), await shareWith(false)];
    expect(2 * withIt).toBeLessThan(without);
  });

  it('A compressed connection closes in order, and its peers see 1000', async () => {
    const server = await started('serve', { perMessageDeflate: true });
    const peer = dialed(server, { perMessageDeflate: true });
    await peer.opened;
    const answered = peer.request(BIG);
    await peer.close({ drainMs: 10_000 });
    expect(await answered).toBe(BIG);
    expect(peer.status).toMatchObject({ state: 'closed', reason: { code: 1000 } });
  });

  it.each<[offer: string | null, answer: string | undefined, options: UpgradeOptions['perMessageDeflate']]>([
    ['permessage-deflate', 'permessage-deflate; server_max_window_bits=13', true],
    ['permessage-deflate; client_max_window_bits', 'permessage-deflate; server_max_window_bits=13', true],
    ['permessage-deflate; server_max_window_bits=15', 'permessage-deflate; server_max_window_bits=13', {}],
    ['permessage-deflate; server_max_window_bits=9', undefined, true],
    ['permessage-deflate; server_max_window_bits=9', 'permessage-deflate; server_max_window_bits=9', { windowBits: 9 }],
    ['permessage-deflate; server_max_window_bits=9, permessage-deflate', 'permessage-deflate; server_max_window_bits=13', true],
    [
      'permessage-deflate',
      'permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=13',
      { contextTakeover: false },
    ],
    ['permessage-deflate; of_the_future', undefined, true],
    ['permessage-deflate; server_max_window_bits=7', undefined, true],
    [';;', undefined, true],
    ['x-webkit-deflate-frame', undefined, true],
    [null, undefined, true],
    ['permessage-deflate', undefined, false],
  ])('A server answers the offer %s with %s', async (offer, answer, perMessageDeflate) => {
    const { http } = await started('serve', { perMessageDeflate });
    const { status, headers, socket } = await handshake(http, { headers: { 'Sec-WebSocket-Extensions': offer } });
    socket.destroy();
    expect([status, headers['sec-websocket-extensions']]).toEqual([101, answer]);
  });

  it.each<[perMessageDeflate: NodeConnectOptions['perMessageDeflate'], offer: string | undefined]>([
    [undefined, undefined],
    [false, undefined],
    [true, 'permessage-deflate; client_max_window_bits=13'],
    [{ windowBits: 15 }, 'permessage-deflate; client_max_window_bits=15'],
    [{ contextTakeover: false }, 'permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits=13'],
  ])('A dialer with %p offers %s', async (perMessageDeflate, offer) => {
    let offered: string | undefined;
    const server = await started('serve', { verify: ({ headers }) => ((offered = headers['sec-websocket-extensions']), true) });
    await dialed(server, { perMessageDeflate }).opened;
    expect(offered).toBe(offer);
  });

  it.each<[given: unknown, message: string]>([
    [5, 'perMessageDeflate: expected a boolean or an object, got 5'],
    ['yes', "perMessageDeflate: expected a boolean or an object, got 'yes'"],
    [null, 'perMessageDeflate: expected a boolean or an object, got null'],
    [[], 'perMessageDeflate: expected a boolean or an object, got an array'],
    [{ treshold: 1 }, "perMessageDeflate: expected one of contextTakeover, thresholdBytes, windowBits, got 'treshold'"],
    [{ windowBit: 15 }, "perMessageDeflate: no 'windowBit'; did you mean 'windowBits'?"],
    [{ windowBits: 8 }, 'perMessageDeflate.windowBits: expected an integer from 9 to 15, got 8'],
    [{ windowBits: 16 }, 'perMessageDeflate.windowBits: expected an integer from 9 to 15, got 16'],
    [{ windowBits: '15' }, "perMessageDeflate.windowBits: expected an integer from 9 to 15, got '15'"],
    [{ thresholdBytes: -1 }, 'perMessageDeflate.thresholdBytes: expected a number of at least 0, got -1'],
    [{ contextTakeover: 1 }, 'perMessageDeflate.contextTakeover: expected a boolean, got 1'],
  ])('`serve`, `handleUpgrade` and `connect` refuse %p', (given, message) => {
    const options = { perMessageDeflate: given } as object;
    const error = new TypeError(message);
    expect(() => serve({ port: 0, ...options })).toThrow(error);
    expect(() => connect('ws://127.0.0.1:1', options)).toThrow(error);
  });
});
