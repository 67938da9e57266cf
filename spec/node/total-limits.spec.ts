import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { concatMap, from, map } from 'rxjs';
import type { Observable } from 'rxjs';
import { WebSocket } from 'ws';
import { connect as dial, serve, Totals } from '../../src/node.js';
import type { MuxServer, ServeOptions, TotalLimits } from '../../src/node.js';
import { ResetCode } from '../../src/index.js';
import type { Given, Peer, Stream } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until } from '../support/socket/leaks.js';

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
    const pushed$ = (nth: number): Observable<string> => from(chunks(nth)).pipe(concatMap((chunk) => from(turn()).pipe(map(() => chunk))));
    const { server, url, join } = await served(
      { maxTotalUnsentBytes: 1024 * KIB },
      {
        handler: (payload, stream) => {
          if (payload === 'small') return stream.reply('still here');
          return payload === 'pulled' ? stream.sendAll(chunks(pulled.size)) : stream.sendAll(pushed$(pulled.size), { overflow: 'latest' });
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
