import { Readable } from 'node:stream';
import zlib from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import type { Limits } from '../../src/index.js';
import type { UpgradeOptions } from '../../src/node.js';
import type { Given } from '../../src/util/check.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { RawClient, clientFrame, compressed, deflated, plain } from '../support/socket/raw-client.js';
import { emptied, testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

describe('compression', () => {
  const KIB = 1024;
  const COMPRESSED_TEXT = 0xc1;
  const logs = collectLogs();
  const servers: TestServer[] = [];
  const clients: RawClient[] = [];

  async function attacked(options: UpgradeOptions = {}): Promise<{ readonly server: TestServer; readonly client: RawClient }> {
    const server = await testServer({
      perMessageDeflate: { contextTakeover: false },
      handler: (payload, stream) => (payload === 'unread' ? stream.closed : stream.reply('good')),
      ...options,
    });
    servers.push(server);
    return { server, client: await dialed(server) };
  }

  async function dialed({ http }: TestServer, extensions?: string | null): Promise<RawClient> {
    const client = await RawClient.dial(http, extensions);
    clients.push(client);
    return client;
  }

  const ask = (stream: number, payload: unknown = 'ask'): string => JSON.stringify({ type: 'open', stream, payload, end: true });
  const open = (stream: number, payload: unknown = 'unread'): string => JSON.stringify({ type: 'open', stream, payload });
  const data = (stream: number, payload: unknown): string => JSON.stringify({ type: 'data', stream, payload });

  /** Another client of the server, which no attack disturbs. */
  async function answersOthers(server: TestServer): Promise<void> {
    const other = await dialed(server);
    other.write(compressed(ask(1)));
    expect(await other.expect({ stream: 1 })).toMatchObject({ payload: 'good' });
  }

  let leaks: ReturnType<typeof watchResources>;
  beforeEach(() => {
    leaks = watchResources();
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) await server.dispose();
    expect(await leaks()).toEqual({});
  });

  describe('of one message', () => {
    /** Counts the bytes that zlib inflates in this process. */
    function countInflated(): { readonly bytes: number } {
      const counted = { bytes: 0 };
      const some = zlib.createInflateRaw();
      some.close();
      const prototype = Object.getPrototypeOf(some) as zlib.InflateRaw;
      jest.spyOn(prototype, 'push').mockImplementation(function (this: zlib.InflateRaw, chunk: Buffer | null) {
        counted.bytes += chunk?.length ?? 0;
        return Readable.prototype.push.call(this, chunk);
      });
      return counted;
    }

    it('Server closes a bomb of ratio 1 000 with 1009, and inflates no more than `maxMessageBytes`', async () => {
      const { server, client } = await attacked({ limits: { maxMessageBytes: 64 * KIB } });
      const inflated = countInflated();
      const bomb = compressed(ask(1, 'a'.repeat(16 * KIB * KIB)));
      expect(bomb.length).toBeLessThan(17 * KIB);
      client.write(bomb);
      expect(await client.closed()).toBe(1009);
      await until('the peer to close', () => server.mux.peers.size === 0);
      expect(inflated.bytes).toBeGreaterThan(64 * KIB);
      expect(inflated.bytes).toBeLessThanOrEqual(64 * KIB + 16 * KIB);
      expect(server.peers[0]?.status).toMatchObject({ state: 'closed', reason: { code: 1009, reason: 'Max payload size exceeded' } });
      expect(logs.warnings).toEqual([
        expect.stringMatching(
          /^rxmux: closed peer \d+ \(127.+\) with 1009: a message, inflated, was over 65536 bytes \(maxMessageBytes\)$/,
        ),
      ]);
      await answersOthers(server);
    });

    it('Server closes a bomb in many fragments of one message with 1009', async () => {
      const { server, client } = await attacked({ limits: { maxMessageBytes: 64 * KIB } });
      const inflated = countInflated();
      const content = deflated(ask(1, 'a'.repeat(KIB * KIB)));
      const pieces = Array.from({ length: Math.ceil(content.length / 16) }, (_, n) => content.subarray(n * 16, n * 16 + 16));
      client.write(clientFrame(0x41, pieces[0]), ...pieces.slice(1).map((piece) => clientFrame(0x00, piece)), clientFrame(0x80));
      expect(await client.closed()).toBe(1009);
      expect(inflated.bytes).toBeLessThanOrEqual(64 * KIB + 32 * KIB);
      await answersOthers(server);
    });

    it('Server takes a compressed message of exactly `maxMessageBytes`', async () => {
      const { client } = await attacked({ limits: { maxMessageBytes: 64 * KIB } });
      const around = ask(1, '').length;
      client.write(compressed(ask(1, 'a'.repeat(64 * KIB - around))));
      await client.expect({ stream: 1, payload: 'good' });
      client.write(compressed(ask(3, 'a'.repeat(64 * KIB - around + 1))));
      expect(await client.closed()).toBe(1009);
    });

    it.each<[what: string, frames: readonly Buffer[], code: number]>([
      ['garbage in a deflate block', [clientFrame(COMPRESSED_TEXT, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]))], 1007],
      ['a block that refers to text before the beginning', [clientFrame(COMPRESSED_TEXT, Buffer.from([0x03, 0x82, 0x00]))], 1007],
      ['compressed text that is no UTF-8', [clientFrame(COMPRESSED_TEXT, zlib.deflateRawSync(Buffer.from([0x22, 0xff, 0x22])))], 1007],
      ['a compressed message that is cut', [clientFrame(COMPRESSED_TEXT, deflated(ask(1, 'a text')).subarray(0, 12))], 1002],
      ['a compressed ping', [clientFrame(0xc9, deflated('p'))], 1002],
      ['a compressed close', [clientFrame(0xc8, deflated('p'))], 1002],
      ['a compressed ping behind a compressed message', [compressed(ask(1)), clientFrame(0xc9, deflated('p'))], 1002],
      ['the mark of compression on a later fragment', [clientFrame(0x01, '{'), clientFrame(0xc0, deflated('}'))], 1002],
      ['another reserved bit', [clientFrame(0xe1, deflated(ask(1)))], 1002],
      ['a message within a compressed message', [clientFrame(0x41, deflated('{')), compressed(ask(1))], 1002],
    ])('Server closes %s', async (_what, frames, code) => {
      const { server, client } = await attacked();
      client.write(...frames);
      expect(await client.closed()).toBe(code);
      await until('the peer to close', () => server.mux.peers.size === 0);
      await answersOthers(server);
    });

    it('Server closes a compressed message with 1002 where nothing was agreed', async () => {
      const { server } = await attacked();
      const client = await dialed(server, null);
      expect(client.extensions).toBeUndefined();
      client.write(compressed(ask(1)));
      expect(await client.closed()).toBe(1002);
    });

    it.each<[what: string, extensions: string | null, options: UpgradeOptions]>([
      ['without the option', 'permessage-deflate', { perMessageDeflate: false }],
      ['for a dialer that offers nothing', null, {}],
    ])('Server takes no compressed message %s', async (_what, extensions, options) => {
      const { server } = await attacked(options);
      const client = await dialed(server, extensions);
      client.write(plain(ask(1)));
      await client.expect({ stream: 1, payload: 'good' });
      client.write(compressed(ask(3)));
      expect(await client.closed()).toBe(1002);
    });

    it.each<[what: string, write: (client: RawClient) => void]>([
      [
        'never compresses',
        (client) => {
          client.write(plain(ask(1)));
        },
      ],
      [
        'compresses one message of two',
        (client) => {
          client.write(compressed(ask(1)), plain(ask(3)));
        },
      ],
      [
        'sends a compressed message in fragments, with a ping in between',
        (client) => {
          const content = deflated(ask(1));
          client.write(clientFrame(0x41, content.subarray(0, 5)), clientFrame(0x89, 'p'), clientFrame(0x80, content.subarray(5)));
        },
      ],
      [
        'sends a compressed message byte by byte',
        (client) => {
          client.socket.setNoDelay();
          for (const byte of compressed(ask(1))) client.socket.write(Buffer.from([byte]));
        },
      ],
      [
        'compresses a message into stored blocks, larger than it was',
        (client) => {
          client.write(
            clientFrame(
              COMPRESSED_TEXT,
              zlib.deflateRawSync(ask(1), { level: 0, finishFlush: zlib.constants.Z_SYNC_FLUSH }).subarray(0, -4),
            ),
          );
        },
      ],
      [
        'ends the deflate stream with a message, and begins another',
        (client) => {
          client.write(clientFrame(COMPRESSED_TEXT, zlib.deflateRawSync(ask(1))), compressed(ask(3)));
        },
      ],
    ])('Server answers a client that %s', async (_what, write) => {
      const { client } = await attacked();
      write(client);
      expect(await client.expect({ stream: 1 })).toMatchObject({ payload: 'good' });
      client.write(compressed(ask(5)));
      expect(await client.expect({ stream: 5 })).toMatchObject({ payload: 'good' });
    });

    it.each<[what: string, cut: (client: RawClient) => void]>([
      ['ends', (client) => client.socket.end()],
      ['is reset', (client) => client.socket.resetAndDestroy()],
    ])('Server releases a connection whose socket %s within a compressed message', async (_what, cut) => {
      const { server, client } = await attacked();
      client.write(compressed(ask(1)));
      await client.expect({ stream: 1, payload: 'good' });
      const message = compressed(ask(3, 'a text'.repeat(99)));
      client.socket.write(message.subarray(0, message.length - 3));
      await turn();
      cut(client);
      await until('the peer to close', () => server.mux.peers.size === 0);
      client.socket.destroy();
      await emptied(server.http);
      await answersOthers(server);
    });

    it('Server releases a connection that is reset while zlib still inflates', async () => {
      const { server, client } = await attacked();
      client.write(...Array.from({ length: 50 }, (_, n) => compressed(ask(2 * n + 1, 'a'.repeat(500 * KIB)))));
      await until('a first call', () => (server.peers[0]?.stats().streams.opened ?? 0) > 0);
      client.socket.resetAndDestroy();
      await until('the peer to close', () => server.mux.peers.size === 0);
      await emptied(server.http);
      await answersOthers(server);
    });
  });

  describe('of messages together', () => {
    interface Flood {
      readonly what: string;
      readonly limits: Given<Limits>;
      readonly messages: readonly string[];
      /** A frame that the server answers with, or the code it closes with. */
      readonly ends: Readonly<Record<string, unknown>> | number;
    }

    const times = (count: number, make: (nth: number) => string): string[] => Array.from({ length: count }, (_, nth) => make(nth));
    const fragment = (more: boolean, content: string): string => JSON.stringify({ type: 'data', stream: 1, more, fragment: content });
    const FLOODS: readonly Flood[] = [
      {
        what: 'a payload over `maxPayloadBytes`',
        limits: { maxPayloadBytes: 10_000 },
        messages: [ask(1, 'a'.repeat(10_000))],
        ends: { type: 'reset', stream: 1, code: ResetCode.PAYLOAD_TOO_LARGE },
      },
      {
        what: 'fragments over `maxPayloadBytes`',
        limits: { maxPayloadBytes: 10_000 },
        messages: [open(1), ...times(3, () => fragment(true, 'a'.repeat(5_000)))],
        ends: { type: 'reset', stream: 1, code: ResetCode.PAYLOAD_TOO_LARGE },
      },
      {
        what: 'unread payloads over `maxHeldBytes`',
        limits: { maxHeldBytes: 100_000 },
        messages: [open(1), ...times(20, () => data(1, 'a'.repeat(10_000)))],
        ends: { type: 'reset', stream: 1 },
      },
      {
        what: 'unread payloads over `maxUnreadBytes`',
        limits: { maxUnreadBytes: 100_000 },
        messages: [open(1), ...times(20, () => data(1, 'a'.repeat(10_000)))],
        ends: { type: 'reset', stream: 1 },
      },
      {
        what: 'too many items in a payload',
        limits: { maxPayloadItems: 1_000 },
        messages: [
          ask(
            1,
            Array.from({ length: 2_000 }, () => 0),
          ),
        ],
        ends: 1002,
      },
      {
        what: 'too many pings',
        limits: { pings: { burst: 10, perSecond: 0 } },
        messages: times(20, (n) => JSON.stringify({ type: 'ping', nonce: String(n) })),
        ends: 1008,
      },
      { what: 'too much junk', limits: { junk: { burst: 10, perSecond: 0 } }, messages: times(20, () => data(0, 1)), ends: 1008 },
      {
        what: 'too many streams',
        limits: { maxStreams: 3 },
        messages: times(5, (n) => open(2 * n + 1)),
        ends: { type: 'reset', stream: 7 },
      },
    ];

    async function endOf({ limits, messages, ends }: Flood, write: (text: string) => Buffer): Promise<unknown> {
      const { client } = await attacked({ limits });
      client.write(...messages.map(write));
      if (typeof ends === 'number') return client.closed();
      const end = await client.expect(ends);
      return end;
    }

    it.each(FLOODS.map((flood) => [flood.what, flood] as const))('Server bounds %s as if nothing was compressed', async (_what, flood) => {
      const end = await endOf(flood, compressed);
      expect(end).toEqual(await endOf(flood, plain));
      if (typeof flood.ends === 'number') expect(end).toBe(flood.ends);
    });

    it('Server holds `helloLimits` for an inflated hello', async () => {
      const { client } = await attacked({ onHello: (_, stream) => stream.reply('welcome'), helloLimits: { maxPayloadBytes: 1_000 } });
      client.write(compressed(ask(1, 'a'.repeat(2_000))));
      await client.expect({ type: 'reset', stream: 1 });
    });

    it('Server stops reading behind a slow reader, though one read holds all messages', async () => {
      const received: number[] = [];
      let read: () => void = () => undefined;
      const { server, client } = await attacked({
        handler: async (_, stream) => {
          await new Promise<void>((resolve) => {
            read = resolve;
          });
          for await (const value of stream) received.push(String(value).length);
          await stream.reply('read');
        },
      });
      const messages = Array.from({ length: 120 }, () => compressed(data(1, 'a'.repeat(60 * KIB))));
      const last = compressed(JSON.stringify({ type: 'data', stream: 1, end: true }));
      expect(Buffer.concat(messages).length).toBeLessThan(64 * KIB);
      client.write(compressed(open(1)), ...messages, last);
      await until('the socket to pause', () => (server.peers[0]?.stats().bytes.held ?? 0) > 3 * KIB * KIB);
      read();
      await client.expect({ type: 'data', stream: 1, payload: 'read' });
      expect(received).toEqual(messages.map(() => 60 * KIB));
      expect(logs.warnings).toEqual([]);
    });

    it('Server goes on to answer others while one client sends bombs', async () => {
      const { server, client } = await attacked();
      const attack = Array.from({ length: 40 }, (_, n) => compressed(ask(2 * n + 1, 'a'.repeat(900 * KIB))));
      client.write(...attack);
      await until('a first call', () => (server.peers[0]?.stats().streams.opened ?? 0) > 0);
      await answersOthers(server);
      expect(server.peers[0]?.stats().streams.opened).toBeLessThan(attack.length);
    });
  });
});
