import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { concatMap, from, map } from 'rxjs';
import type { Observable } from 'rxjs';
import { WebSocket } from 'ws';
import type { Share } from '../../src/connection/connection.js';
import { ResetCode } from '../../src/index.js';
import type { Codec, Given, Peer, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect as dial, serve, Totals } from '../../src/node.js';
import type { MuxServer, ServeOptions, TotalLimits } from '../../src/node.js';
import { Ledger } from '../../src/acceptor/ledger.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { turn, until } from '../support/socket/leaks.js';

describe('total limits', () => {
  const KIB = 1024;
  const ended: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const end of ended.splice(0)) await end();
  });

  const logs = collectLogs();

  type Options = Partial<Omit<ServeOptions, 'server' | 'totalLimits'>>;

  async function served(
    totalLimits: Given<TotalLimits> | Totals,
    options: Options = {},
  ): Promise<{ server: MuxServer; url: string; join: () => Peer; joinAs: (forwarded: string) => Peer }> {
    const server = serve({ port: 0, host: '127.0.0.1', keepalive: false, ...options, totalLimits } as ServeOptions);
    const address = await server.listening;
    const url = `ws://127.0.0.1:${typeof address === 'object' ? address.port : ''}`;
    ended.push(() => server.close());
    const joinAs = (forwarded?: string): Peer => {
      const peer = dial(url, { keepalive: false, ...(forwarded === undefined ? {} : { headers: { 'x-forwarded-for': forwarded } }) });
      ended.unshift(() => peer.close());
      return peer;
    };
    return { server, url, join: () => joinAs(), joinAs };
  }

  const outcomeOf = (peer: Peer): Promise<unknown> =>
    peer.opened.then(
      () => 'open',
      (error: unknown) => (error as { status?: unknown }).status,
    );

  describe('connections', () => {
    it('A server answers 503 with Retry-After beyond maxConnections, and takes the next one when a peer has closed', async () => {
      const { server, join } = await served({ maxConnections: 2 });
      const peers = [join(), join()];
      expect(await Promise.all(peers.map(outcomeOf))).toEqual(['open', 'open']);
      expect(await outcomeOf(join())).toBe(503);
      expect(server.stats()).toMatchObject({
        connections: { open: 2, opened: 2 },
        refusals: { 503: 1 },
        limits: { maxConnections: { used: 2, max: 2 } },
      });
      expect(logs.warnings).toContainEqual('rxmux: refused an upgrade: 503 /: too many connections: maxConnections (2)');
      await peers[0]?.close();
      await until('the place', () => server.peers.size === 1);
      expect(await outcomeOf(join())).toBe('open');
    });

    it('An upgrade takes a place before `verify` decides, and loses the place when `verify` refuses', async () => {
      const verdicts: ((verdict: boolean) => void)[] = [];
      const { server, join } = await served({ maxConnections: 1 }, { verify: () => new Promise((resolve) => verdicts.push(resolve)) });
      const refused = outcomeOf(join());
      await until('verify', () => verdicts.length === 1);
      expect(await outcomeOf(join())).toBe(503);
      verdicts[0]?.(false);
      expect(await refused).toBe(403);
      expect(server.stats().limits).toEqual({ maxConnections: { used: 0, max: 1 } });
      const third = outcomeOf(join());
      await until('verify again', () => verdicts.length === 2);
      verdicts[1]?.(true);
      expect(await third).toBe('open');
    });

    it('A dialer that leaves during `verify` releases its place', async () => {
      let asked = 0;
      const { server, join } = await served({ maxConnections: 1 }, { verify: () => new Promise(() => asked++) });
      const leaving = join();
      await until('verify', () => asked === 1);
      void leaving.close();
      await until('the place', () => server.stats().limits.maxConnections?.used === 0);
      expect(server.stats().connections.opened).toBe(0);
    });

    it.each([
      ['no proxy is trusted', undefined, ['503', '503']],
      ['one proxy is trusted', 1, ['open', '503']],
      ['the address of the proxy is trusted', ['127.0.0.0/8'], ['open', '503']],
    ] as const)('An address has maxConnectionsPerAddress places when %s', async (_what, trustProxy, outcomes) => {
      const { server, joinAs } = await served({ maxConnectionsPerAddress: 1 }, { trustProxy });
      expect(await outcomeOf(joinAs('198.51.100.1'))).toBe('open');
      expect(String(await outcomeOf(joinAs('198.51.100.2')))).toBe(outcomes[0]);
      expect(String(await outcomeOf(joinAs('6.6.6.6, 198.51.100.1')))).toBe(outcomes[1]);
      expect(server.stats().limits).toEqual({ maxConnectionsPerAddress: { used: 1, max: 1 } });
    });

    it('A `trustProxy` that throws answers 500', async () => {
      const { server, join } = await served(
        { maxConnections: 1 },
        {
          trustProxy: () => {
            throw new Error('no list');
          },
        },
      );
      expect(await outcomeOf(join())).toBe(500);
      expect(server.stats().refusals).toEqual({ 500: 1 });
    });

    it('Servers that share their Totals count together', async () => {
      const totals = new Totals({ maxConnections: 1 });
      const http = createServer().listen(0, '127.0.0.1');
      const servers = ['/a', '/b'].map((path) => serve({ server: http, path, totalLimits: totals }));
      await servers[0]?.listening;
      const { port } = http.address() as { port: number };
      const [first, second] = ['/a', '/b'].map((path) => dial(`ws://127.0.0.1:${port}${path}`));
      ended.push(async () => {
        await Promise.all([first?.close(), ...servers.map((server) => server.close())]);
        await new Promise((resolve) => http.close(resolve));
      });
      await first?.opened;
      await expect(second?.opened).rejects.toMatchObject({ status: 503 });
      expect(totals.usage()).toEqual({ maxConnections: { used: 1, max: 1 } });
    });
  });

  describe('streams', () => {
    it('A server refuses streams beyond maxTotalStreams, on whichever connection, but leaves each connection its share', async () => {
      const { server, join } = await served({ maxTotalStreams: 16 }, { handler: (_payload, stream) => stream.closed });
      const greedy = join();
      const modest = join();
      await Promise.all([greedy.opened, modest.opened]);
      const streams = Array.from({ length: 20 }, () => greedy.open('greedy'));
      const refused = await Promise.all(streams.slice(12).map((stream) => stream.closed));
      for (const cause of refused)
        expect(cause).toMatchObject({ how: 'reset', code: 7, reason: 'more than 16 streams on all connections (maxTotalStreams)' });
      const two = [modest.open('modest'), modest.open('modest')];
      const third = modest.open('modest');
      expect(await third.closed).toMatchObject({ how: 'reset', code: 7 });
      expect(two.map(({ cause }) => cause)).toEqual([null, null]);
      expect(server.stats()).toMatchObject({ streams: { open: 14, remote: 14 }, limits: { maxTotalStreams: { used: 14, max: 16 } } });
      await greedy.close();
      await until('the places', () => server.stats().limits.maxTotalStreams?.used === 2);
      expect(
        await Promise.race([modest.open('modest').closed, until('a moment', () => server.stats().streams.open === 3).then(() => 'open')]),
      ).toBe('open');
    });
  });

  describe('held bytes', () => {
    const unread = { handler: (_payload: unknown, stream: Stream) => stream.closed };

    it('A stream that brings more than maxTotalHeldBytes allows is reset, and new streams are refused, but new connections come in', async () => {
      const { server, join } = await served({ maxTotalHeldBytes: 1024 * KIB }, { ...unread, limits: { pauseMs: 0 } });
      const [greedy, modest] = [join(), join()];
      await Promise.all([greedy.opened, modest.opened]);
      const fill = 'x'.repeat(60 * KIB);
      const held = (): number => server.stats().bytes.held;
      // A stream of 60 KiB each: 11 of them pass five eighths of the limit.
      const streams = Array.from({ length: 10 }, () => greedy.open(fill));
      await until('ten payloads', () => held() >= 600 * KIB);
      const uploads = streams.slice(0, 2).map((stream) => stream.send('x'.repeat(40 * KIB)));
      await Promise.all(uploads);
      await until('five eighths', () => held() >= 680 * KIB);
      expect(await greedy.open(fill).closed).toMatchObject({
        how: 'reset',
        code: ResetCode.REFUSED,
        reason: 'this connection holds its part of 1048576 bytes (maxTotalHeldBytes)',
      });
      expect(await outcomeOf(join())).toBe('open');
      for (const stream of streams) stream.send(fill).catch(() => undefined);
      await until('a reset', () => streams.some(({ cause }) => cause !== null));
      const causes = streams.flatMap(({ cause }) => cause ?? []);
      expect(causes[0]).toMatchObject({
        code: ResetCode.ENHANCE_YOUR_CALM,
        reason: 'this connection holds its part of 1048576 bytes (maxTotalHeldBytes)',
      });
      expect(held()).toBeLessThanOrEqual(768 * KIB);
      expect(server.stats().limits.maxTotalHeldBytes).toEqual({ used: held(), max: 1024 * KIB });
      const before = server.stats().streams.open;
      modest.open(fill);
      await until('the modest stream', () => server.stats().streams.open !== before);
      await greedy.close();
      await until('the release', () => (server.stats().limits.maxTotalHeldBytes?.used ?? 0) < 70 * KIB);
      expect(await outcomeOf(join())).toBe('open');
    });

    it('A socket pauses when half of maxTotalHeldBytes is used and its connection holds more than its share', async () => {
      const { server, join } = await served({ maxTotalHeldBytes: 1024 * KIB }, { ...unread, limits: { pauseMs: 3_600_000 } });
      const greedy = join();
      await greedy.opened;
      const streams = Array.from({ length: 40 }, () => greedy.open('keep', { end: false }));
      for (const stream of streams) stream.send('x'.repeat(60 * KIB)).catch(() => undefined);
      await until('the pause', () => (server.stats().limits.maxTotalHeldBytes?.used ?? 0) >= 512 * KIB);
      await expect(greedy.request('x', { timeoutMs: 100 })).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      expect(streams.map(({ cause }) => cause).filter((cause) => cause !== null)).toEqual([]);
      await server.close();
    });
  });

  describe('unsent bytes', () => {
    const CHUNK = 'x'.repeat(60 * KIB);

    /** A client that asks for answers, and reads none of them before it is resumed. It answers pings as it reads them. */
    async function slowReader(url: string, payload: string): Promise<WebSocket> {
      const socket = new WebSocket(url, 'mux.v1.json');
      ended.unshift(() => {
        socket.terminate();
        return Promise.resolve();
      });
      await once(socket, 'open');
      socket.pause();
      socket.on('message', (data: Buffer) => {
        const { type, nonce } = JSON.parse(data.toString()) as { readonly type: string; readonly nonce?: string };
        if (type === 'ping') socket.send(JSON.stringify({ type: 'pong', nonce }));
      });
      socket.send(JSON.stringify({ type: 'open', stream: 1, end: true, payload }));
      return socket;
    }

    it('Inputs wait when half of maxTotalUnsentBytes is used, others go on, and the inputs go on when there is room', async () => {
      const pulled = new Map<number, number>();
      function* chunks(nth: number): Generator<string> {
        for (let count = 1; count <= 400; count++) {
          pulled.set(nth, count);
          yield CHUNK;
        }
      }
      const pushed$ = (nth: number): Observable<string> =>
        from(chunks(nth)).pipe(concatMap((chunk) => from(turn()).pipe(map(() => chunk))));
      const { server, url, join } = await served(
        { maxTotalUnsentBytes: 1024 * KIB },
        {
          handler: (payload, stream) => {
            if (payload === 'small') return stream.reply('still here');
            return payload === 'pulled'
              ? stream.sendAll(chunks(pulled.size))
              : stream.sendAll(pushed$(pulled.size), { overflow: 'latest' });
          },
        },
      );
      const honest = await join().opened;
      const readers = await Promise.all(['pulled', 'pushed', 'pulled', 'pushed'].map((kind) => slowReader(url, kind)));
      let still = 0;
      let before = -1;
      await until('all inputs to wait', () => {
        const total = [...pulled].filter(([nth]) => nth % 2 === 0).reduce((sum, [, count]) => sum + count, 0);
        still = total === before && pulled.size === 4 ? still + 1 : 0;
        before = total;
        return still > 300;
      });
      expect(pulled.get(0)).toBeLessThan(400);
      expect(server.stats().bytes.unsent).toBeGreaterThan(256 * KIB);
      expect(server.stats().bytes.unsent).toBeLessThanOrEqual(1024 * KIB + CHUNK.length);
      expect(await honest.request('small')).toBe('still here');
      for (const reader of readers) reader.resume();
      await until('the rest', () => pulled.get(0) === 400 && pulled.get(2) === 400);
      await until('the sockets to drain', () => server.stats().limits.maxTotalUnsentBytes?.used === 0);
    });

    it('An answer that did not wait fails beyond three quarters of maxTotalUnsentBytes', async () => {
      const failures: unknown[] = [];
      const { server, url, join } = await served(
        { maxTotalUnsentBytes: 16 * 1024 * KIB },
        {
          handler: async (_payload, stream) => {
            for (let nth = 0; nth < 300; nth++) stream.peer.notify(CHUNK);
            await stream.reply(CHUNK).catch((error: unknown) => failures.push(error));
          },
        },
      );
      const reader = await slowReader(url, 'flood');
      await until('a failure', () => failures.length > 0);
      expect(failures[0]).toMatchObject({ code: 'QUEUE_OVERFLOW' });
      reader.resume();
      await until('the socket to drain', () => server.stats().limits.maxTotalUnsentBytes?.used === 0);
      expect(await outcomeOf(join())).toBe('open');
    });
  });
});

describe('ledger', () => {
  /** From half of it on, connections with more than their share wait; from 875 on, upgrades may be refused. */
  const UNSENT_BYTES = 1_000;
  const FULL = 875;

  const time = virtualPeerTime();

  /** A connection whose socket the test empties. */
  class Connection {
    /** Bytes that the socket has not sent yet. */
    unsent = 0;
    measurements = 0;
    /** When the ledger reported room, in ms. */
    readonly room: number[] = [];
    readonly share: Share;
    readonly leave: () => void;
    /** Why the ledger has ended it. */
    reason: string | null = null;
    readonly label = 'peer 1';

    constructor(ledger: Ledger, address: string | null = null) {
      const seat = ledger.seat(address);
      const share = seat.join(this, (reason) => {
        this.reason = reason;
      });
      if (share === null) throw new Error('expected a ledger with limits');
      this.share = share;
      this.leave = () => {
        seat.leave();
      };
      share.onRoom(() => this.room.push(time.now));
    }

    get bufferedAmount(): number {
      this.measurements++;
      return this.unsent;
    }

    /** Opens streams until one is refused. Returns how many it has opened. */
    open(most: number): number {
      for (let opened = 0; ; opened++) {
        if (opened === most || this.share.streamRefusal() !== null) return opened;
        this.share.streamTaken();
      }
    }

    /** Queues bytes. Returns whether their sender has to wait. */
    queue(bytes: number): boolean {
      this.unsent += bytes;
      this.share.queued(bytes);
      return this.share.mustWait();
    }
  }

  function ledgerOf(limits: Partial<TotalLimits> = { maxTotalUnsentBytes: UNSENT_BYTES }): Ledger {
    return new Ledger({
      maxConnections: Infinity,
      maxConnectionsPerAddress: Infinity,
      maxTotalStreams: Infinity,
      maxTotalHeldBytes: Infinity,
      maxTotalUnsentBytes: Infinity,
      ...limits,
    });
  }

  const logs = collectLogs();

  describe('a ledger', () => {
    it('A connection that waits goes on at the first of the looks each 50 ms after its socket has sent enough', async () => {
      const ledger = ledgerOf();
      const connection = new Connection(ledger);
      expect(connection.queue(600)).toBe(true);
      await time.advance(120);
      expect(connection.room).toEqual([]);
      connection.unsent = 499;
      await time.advance(29);
      expect(connection.room).toEqual([]);
      await time.advance(1);
      expect(connection.room).toEqual([150]);
      expect(time.isOver()).toBe(true);
    });

    it('Connections that wait share one timer, and each goes on once it has less than its share or all have little', async () => {
      const ledger = ledgerOf();
      const [first, second] = [new Connection(ledger), new Connection(ledger)];
      expect([first.queue(400), second.queue(400)]).toEqual([false, true]);
      expect(first.queue(50)).toBe(true);
      expect(time.pending).toBe(1);
      first.unsent = 125;
      await time.advance(50);
      expect([first.room, second.room]).toEqual([[50], []]);
      second.unsent = 374;
      await time.advance(50);
      expect([first.room, second.room]).toEqual([[50], [100]]);
      expect(time.isOver()).toBe(true);
    });

    it('A connection that leaves while it waits hears of no room, and returns its bytes', async () => {
      const ledger = ledgerOf();
      const connection = new Connection(ledger);
      connection.queue(UNSENT_BYTES);
      connection.leave();
      expect(ledger.usage()).toEqual({ maxTotalUnsentBytes: { used: 0, max: UNSENT_BYTES } });
      await time.advance(1_000);
      expect(connection.room).toEqual([]);
      expect(time.isOver()).toBe(true);
    });

    it('An upgrade that would be refused measures the sockets first, but only each 50 ms', async () => {
      const ledger = ledgerOf();
      const connections = Array.from({ length: 10 }, () => new Connection(ledger));
      for (const connection of connections) {
        connection.share.queued(FULL / 10);
        connection.unsent = FULL / 10;
      }
      const [first] = connections;
      expect(ledger.refusal(null)).toEqual({ reason: 'this side is busy', detail: ': maxTotalUnsentBytes (1000)' });
      expect(first?.measurements).toBe(1);
      for (const connection of connections) connection.unsent = 0;
      await time.advance(49);
      expect(ledger.refusal(null)).not.toBeNull();
      await time.advance(1);
      expect(ledger.refusal(null)).toBeNull();
      expect(first?.measurements).toBe(2);
      expect(connections.map(({ reason }) => reason)).toEqual(connections.map(() => null));
    });

    it('The sockets are measured again at once when an eighth of the limit was queued since', () => {
      const ledger = ledgerOf();
      const connection = new Connection(ledger);
      connection.queue(FULL);
      expect(connection.measurements).toBe(1);
      connection.queue(124);
      expect(connection.measurements).toBe(1);
      connection.queue(1);
      expect(connection.measurements).toBe(2);
    });
  });

  describe('shares', () => {
    it('Addresses divide the last quarter equally, and the connections of one address divide its part', () => {
      const ledger = ledgerOf({ maxTotalStreams: 96 });
      const many = Array.from({ length: 3 }, () => new Connection(ledger, '192.0.2.1'));
      const lone = new Connection(ledger, '192.0.2.2');
      const unknown = new Connection(ledger);
      expect(many[0]?.open(100)).toBe(72);
      expect([lone.open(8), unknown.open(8), many[1]?.open(2), many[2]?.open(2)]).toEqual([8, 8, 2, 2]);
      expect(many.map(({ reason }) => reason)).toEqual([null, null, null]);
      expect(lone.open(1)).toBe(1);
      expect(many.map(({ reason }) => reason === null)).toEqual([false, true, true]);
    });

    it('Each connection has a share of one stream, however many there are, and the greediest ends where no place is left', () => {
      const ledger = ledgerOf({ maxTotalStreams: 16 });
      const greedy = new Connection(ledger, '192.0.2.1');
      const others = Array.from({ length: 15 }, (_, n) => new Connection(ledger, `198.51.100.${n}`));
      expect(greedy.open(100)).toBe(12);
      expect(others.map((other) => other.open(1))).toEqual(others.map(() => 1));
      expect(greedy.reason).toBe('this connection has far more than its part of 16 streams (maxTotalStreams)');
      expect(others.map(({ reason }) => reason)).toEqual(others.map(() => null));
      expect(ledger.usage()).toEqual({ maxTotalStreams: { used: 15, max: 16 } });
      expect(logs.warnings).toEqual([`rxmux: peer 1 is ended: ${String(greedy.reason)}`]);
    });

    it('Connections that have equally much never end each other', () => {
      const ledger = ledgerOf({ maxTotalStreams: 16 });
      const first = Array.from({ length: 16 }, (_, n) => new Connection(ledger, `192.0.2.${n}`));
      const second = Array.from({ length: 16 }, (_, n) => new Connection(ledger, `198.51.100.${n}`));
      expect(first.map((each) => each.open(1))).toEqual(first.map(() => 1));
      expect(second.map((each) => each.open(1))).toEqual(second.map(() => 0));
      expect([...first, ...second].filter(({ reason }) => reason !== null)).toEqual([]);
    });

    it('A connection ends that has most of the address that has most, where another needs more than its share', () => {
      const ledger = ledgerOf({ maxTotalHeldBytes: 1_000_000 });
      const three = Array.from({ length: 3 }, () => new Connection(ledger, '192.0.2.1'));
      const large = new Connection(ledger, '192.0.2.2');
      const others = Array.from({ length: 8 }, (_, n) => new Connection(ledger, `198.51.100.${n}`));
      expect(three.map(({ share }, n) => share.hold(150_000 + n))).toEqual([true, true, true]);
      expect(large.share.hold(200_000)).toBe(true);
      expect(others.map(({ share }) => share.hold(30_000))).toEqual(others.map(() => true));
      expect([...three, large].map(({ reason }) => reason === null)).toEqual([true, true, false, true]);
    });

    it('The bytes of a connection that ends count towards the limit until it releases them', () => {
      const ledger = ledgerOf({ maxTotalHeldBytes: 1_000_000 });
      const [greedy, other] = [new Connection(ledger, '192.0.2.1'), new Connection(ledger, '192.0.2.2')];
      expect(greedy.share.hold(750_000)).toBe(true);
      expect(other.share.hold(200_000)).toBe(true);
      expect(greedy.reason).toBe('this connection has far more than its part of 1000000 bytes (maxTotalHeldBytes)');
      expect([other.share.hold(50_001), other.share.hold(50_000)]).toEqual([false, true]);
      expect(ledger.usage()).toEqual({ maxTotalHeldBytes: { used: 1_000_000, max: 1_000_000 } });
      greedy.share.unhold(750_000);
      expect(ledger.usage()).toEqual({ maxTotalHeldBytes: { used: 250_000, max: 1_000_000 } });
    });

    it('Unsent bytes of a connection that ends count towards the limit until it leaves', () => {
      const ledger = ledgerOf({ maxTotalUnsentBytes: 1_000_000 });
      const [greedy, other] = [new Connection(ledger, '192.0.2.1'), new Connection(ledger, '192.0.2.2')];
      greedy.queue(750_000);
      expect([other.share.overflowsWith(200_000), greedy.reason === null]).toEqual([false, false]);
      other.queue(200_000);
      expect([other.share.overflowsWith(50_001), other.share.overflowsWith(50_000)]).toEqual([true, false]);
      greedy.leave();
      expect(other.share.overflowsWith(50_001)).toBe(false);
    });

    it('A connection within its share gets more while others fill the room of a connection that ends', () => {
      const ledger = ledgerOf({ maxTotalHeldBytes: 1_000_000 });
      const [greedy, eager, modest] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => new Connection(ledger, address));
      expect([greedy?.share.hold(750_000), modest?.share.hold(1_000), greedy?.share.hold(1)]).toEqual([true, true, false]);
      expect(eager?.share.hold(100_000)).toBe(true);
      while (eager?.share.hold(1_000) === true);
      expect([greedy?.reason === null, modest?.share.hold(1_000)]).toEqual([false, true]);
    });

    it('A connection ends once, and the next to end is its neighbour at the same address', () => {
      const ledger = ledgerOf({ maxTotalHeldBytes: 1_000_000 });
      const three = Array.from({ length: 3 }, () => new Connection(ledger, '192.0.2.1'));
      expect(three.map(({ share }, n) => share.hold(250_000 - n))).toEqual([true, true, true]);
      const others = Array.from({ length: 4 }, (_, n) => new Connection(ledger, `198.51.100.${n}`));
      const ends = (): readonly boolean[] => three.map(({ reason }) => reason !== null);
      expect([others[0]?.share.hold(130_000), ends()]).toEqual([true, [true, false, false]]);
      expect(three[0]?.share.hold(1)).toBe(false);
      three[0]?.share.unhold(250_000);
      three[0]?.leave();
      expect([others[1]?.share.hold(150_000), ends()]).toEqual([true, [true, true, false]]);
      expect(ledger.usage()).toEqual({ maxTotalHeldBytes: { used: 779_997, max: 1_000_000 } });
    });

    it('A new connection ends the greediest from seven eighths on', () => {
      const ledger = ledgerOf({ maxTotalUnsentBytes: 1_000_000 });
      const greedy = new Connection(ledger, '192.0.2.1');
      greedy.queue(874_999);
      expect([ledger.refusal('192.0.2.2'), greedy.reason]).toEqual([null, null]);
      greedy.queue(1);
      expect(ledger.refusal('192.0.2.2')).toBeNull();
      expect(greedy.reason).toBe('this connection has far more than its part of 1000000 bytes to send (maxTotalUnsentBytes)');
    });
  });
});

describe('the stats of a server', () => {
  const ended: (() => Promise<unknown>)[] = [];
  const logs = collectLogs();

  afterEach(async () => {
    for (const end of ended.splice(0)) await end();
  });

  async function served(options: Partial<Omit<ServeOptions, 'server'>> = {}): Promise<{ server: MuxServer; join: () => Promise<Peer> }> {
    const { codec } = options;
    const server = serve({
      port: 0,
      host: '127.0.0.1',
      keepalive: false,
      handler: async (payload, stream) => {
        if (payload === 'wait') await stream.closed;
        else await stream.reply(payload);
      },
      ...options,
    } as ServeOptions);
    const address = await server.listening;
    ended.push(() => server.close());
    const join = (): Promise<Peer> => {
      const peer = dial(`ws://127.0.0.1:${typeof address === 'object' ? address.port : ''}`, { keepalive: false, ...(codec && { codec }) });
      ended.unshift(() => peer.close());
      return peer.opened;
    };
    return { server, join };
  }

  it('A server without peers has counted nothing', async () => {
    const { server } = await served();
    expect(server.stats()).toEqual({
      connections: { open: 0, opened: 0 },
      streams: { open: 0, remote: 0, waiting: 0, opened: 0 },
      ended: {},
      sent: { frames: 0, bytes: 0 },
      received: { frames: 0, bytes: 0 },
      queue: { frames: 0, bytes: 0 },
      bytes: { held: 0, unsent: 0 },
      refusals: {},
      limits: {},
      peersNearLimits: { maxStreams: 0, maxHeldBytes: 0, maxUnsentBytes: 0, maxQueuedBytes: 0 },
    });
  });

  const codecs: readonly (readonly [name: string, codec: Codec | undefined])[] = [
    ['json', undefined],
    ['msgpack', new MsgpackCodec()],
  ];
  it.each(codecs)('Both ends count the same frames and bytes of messages over sockets: %s', async (_name, codec) => {
    const { server, join } = await served({ codec });
    const peer = await join();
    for (const length of [10, 200, 70_000]) await peer.request('ü'.repeat(length));
    // The last pong may still be on its way.
    await until('the last pong', () => server.stats().received.frames === peer.stats().sent.frames);
    const { sent, received } = peer.stats();
    expect(sent.bytes).toBeGreaterThan(140_000);
    expect(server.stats()).toMatchObject({ sent: received, received: sent });
  });

  it('Messages that wait for the end of the turn count as sent', async () => {
    const { join } = await served();
    const peer = await join();
    const before = peer.stats().sent;
    peer.notify('x'.repeat(300));
    const { sent } = peer.stats();
    expect([sent.frames - before.frames, sent.bytes - before.bytes]).toEqual([
      1,
      '{"type":"open","stream":1,"end":true,"payload":""}'.length + 300,
    ]);
  });

  it('The sums keep peers that have closed, and streams that were lost with them', async () => {
    const { server, join } = await served();
    const [first, second] = [await join(), await join()];
    await first.request('one');
    await second.request('two');
    first.open('wait');
    await first.ping();
    const open = server.stats();
    expect(open).toMatchObject({ connections: { open: 2, opened: 2 }, streams: { open: 1, remote: 1, opened: 3 }, ended: { ended: 2 } });
    await first.close();
    await until('the end of the first', () => server.peers.size === 1);
    const later = server.stats();
    expect(later).toMatchObject({ connections: { open: 1, opened: 2 }, streams: { open: 0, remote: 0, opened: 3 } });
    expect(later.ended).toEqual({ ended: 2, 'remote reset CANCEL': 1 });
    expect(later.sent.frames).toBeGreaterThanOrEqual(open.sent.frames);
    expect(later.received.bytes).toBeGreaterThan(open.received.bytes);
  });

  it('A peer is near a limit from four fifths of it on', async () => {
    const { server, join } = await served({ limits: { maxStreams: 5 } });
    const peer = await join();
    for (let n = 0; n < 3; n++) peer.open('wait');
    await peer.ping();
    expect(server.stats().peersNearLimits.maxStreams).toBe(0);
    peer.open('wait');
    await peer.ping();
    expect(server.stats().peersNearLimits).toEqual({ maxStreams: 1, maxHeldBytes: 0, maxUnsentBytes: 0, maxQueuedBytes: 0 });
  });

  it('A handshake that was refused counts by its status, and is no connection', async () => {
    const { server } = await served({ verify: () => false });
    const address = server.address();
    const socket = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : ''}`, 'mux.v1.json');
    await once(socket, 'error');
    expect(server.stats()).toMatchObject({ connections: { open: 0, opened: 0 }, refusals: { 403: 1 } });
    expect(logs.warnings).toHaveLength(1);
  });
});
