import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, Subject } from 'rxjs';
import { connect, serve } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { handshake } from '../support/socket/handshake.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';

const page = loadRecipes() as Recipes;

collectLogs();

describe('session cookie', () => {
  const verify = page.bySession((session) => Promise.resolve(session === 's2' ? undefined : 'ann'));

  it.each([
    ['s1 alone', 'session=s1', { user: 'ann' }],
    ['s1 among others', 'lang=en; session=s1; theme=dark', { user: 'ann' }],
    ['an unknown session', 'session=s2', 401],
    ['a cookie whose name ends like it', 'nosession=s1', 401],
    ['an empty session', 'session=', 401],
    ['no cookie', undefined, 401],
  ])('`bySession` judges a request by its session cookie: %s', async (_, cookie, verdict) => {
    expect(await verify({ headers: { cookie } } as never)).toEqual(verdict);
  });

  it('`bySession` sets the context of the peer', async () => {
    const server = serve({ port: 0, verify, handler: (_, stream) => stream.reply(stream.peer.context) });
    const { port } = (await server.listening) as AddressInfo;
    const peer = connect(`ws://localhost:${port}`, { headers: { cookie: 'session=s1' } });
    expect(await peer.request(null)).toEqual({ user: 'ann' });
    await expect(connect(`ws://localhost:${port}`).opened).rejects.toMatchObject({ status: 401 });
    await Promise.all([peer.close(), server.close()]);
  });
});

describe('metrics', () => {
  it('`metricsOf` prints each fact of a server as a line of text', async () => {
    const server = serve({ port: 0, handler: (_, stream) => stream.reply('hi'), totalLimits: { maxConnections: 4 } });
    const { port } = (await server.listening) as AddressInfo;
    const peer = connect(`ws://localhost:${port}`);
    await peer.request(null);
    const lines = page.metricsOf(server).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'rxmux_connections{by="open"} 1',
        'rxmux_streams{by="opened"} 1',
        'rxmux_ended{by="ended"} 1',
        'rxmux_sent{by="frames"} 1',
        'rxmux_peersNearLimits{by="maxStreams"} 0',
        'rxmux_limits{by="maxConnections"} 0.25',
      ]),
    );
    expect(lines.pop()).toBe('');
    expect(lines.every((line) => /^rxmux_[a-zA-Z]+\{by="[\w ]+"\} [\d.]+$/.test(line))).toBe(true);
    await Promise.all([peer.close(), server.close()]);
  });
});

describe('one port', () => {
  it('A server on one port serves pages and streams, and refuses one peer too many with 429', async () => {
    const http = createServer((_request, response) => response.end('a page'));
    const mux = page.joinPages(http, (payload, stream) => stream.reply(payload), 1);
    http.listen(0, '127.0.0.1');
    const { port } = (await mux.listening) as AddressInfo;
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('a page');
    const peer = connect(`ws://127.0.0.1:${port}/mux`);
    expect(await peer.request('hi')).toBe('hi');
    const { status, headers, socket } = await handshake(http, { path: '/mux' });
    expect([status, headers['retry-after']]).toEqual([429, '5']);
    socket.destroy();
    const left = page.leavePort(http, mux);
    expect(http.listening).toBe(false);
    await left;
    expect(await peer.closed).toMatchObject({ code: 1000 });
  });
});

describe('deploy', () => {
  it('`serveReady` answers the probe with 200, and with 503 while the last call goes on', async () => {
    const answer = new Subject<string>();
    const { http, drain } = page.serveReady((_, stream) => stream.sendAll(answer));
    http.listen(0, '127.0.0.1');
    const { port } = (await once(http, 'listening').then(() => http.address())) as AddressInfo;
    const probe = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/ready`, { headers: { connection: 'close' } })).status;
    const peer = connect(`ws://127.0.0.1:${port}/mux`);
    const asked = peer.open(null);
    const value = firstValueFrom(asked);
    await peer.ping();
    expect(await probe()).toBe(200);
    const drained = drain();
    expect(await probe()).toBe(503);
    answer.next('done');
    answer.complete();
    expect(await value).toBe('done');
    await drained;
    expect(http.listening).toBe(false);
  });

  it.each(['SIGTERM', 'SIGINT'])(
    '`closeOnSignal` closes the server at the first %s with a drain of 20 s, and ignores a second signal',
    async (signal) => {
      const process = new EventEmitter();
      const closes: unknown[] = [];
      const server = { close: (options: unknown) => Promise.resolve(closes.push(options)) };
      const closed = page.closeOnSignal(server as never, process);
      expect(closes).toEqual([]);
      process.emit(signal);
      await closed;
      expect(closes).toEqual([{ drainMs: 20_000, reason: 'deploy' }]);
      expect(process.eventNames()).toEqual([]);
    },
  );

  it('The old server answers its calls during a deploy, and the new server answers new ones', async () => {
    const deploy = (name: string) => {
      const server = serve({ port: 0, handler: (payload, stream) => answer(name, payload as Call, stream.reply.bind(stream)) });
      server.peers$.subscribe((peer) => {
        page.serveLog(peer, past, entries$);
      });
      return server;
    };
    interface Call {
      readonly op: string;
      readonly seat?: string;
    }
    const finish$ = new Subject<void>();
    const started$ = new Subject<void>();
    const entries$ = new Subject<{ seq: number }>();
    const past: { seq: number }[] = [];
    const append = (seq: number): void => {
      past.push({ seq });
      entries$.next({ seq });
    };
    const answer = async (name: string, { seat = '' }: Call, reply: (value: string) => Promise<void>): Promise<void> => {
      if (seat === 'slow') {
        started$.next();
        await firstValueFrom(finish$);
      }
      await reply(`${seat} on the ${name}`);
    };

    const old = deploy('old');
    const next = deploy('new');
    let address = (await old.listening) as AddressInfo;
    const peer = connect(() => `ws://localhost:${address.port}`, { reconnect: { minDelayMs: 1, maxDelayMs: 1 } });
    const process = new EventEmitter();
    const exited = page.closeOnSignal(old, process);
    const followed: number[] = [];
    const following = page.follow(peer).subscribe(({ seq }) => followed.push(seq));
    append(1);

    const hasStarted = firstValueFrom(started$);
    const slow = page.book(peer, 'slow');
    await hasStarted;
    address = (await next.listening) as AddressInfo;
    const moved = firstValueFrom(next.peers$);
    process.emit('SIGTERM');
    await moved;
    append(2);
    expect(await page.book(peer, '12A')).toBe('12A on the new');
    finish$.next();
    expect(await slow).toBe('slow on the old');
    await exited;
    append(3);
    await peer.ping();
    expect(followed).toEqual([1, 2, 3]);
    following.unsubscribe();
    await Promise.all([peer.close(), next.close()]);
  });
});
