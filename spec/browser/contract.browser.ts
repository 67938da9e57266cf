import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { map, range } from 'rxjs';
import { WebSocketServer } from 'ws';
import { JsonCodec, logger, ResetCode } from '../../src/index.js';
import type { CloseReason, Codec, Stream, StreamHandler } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { RichCodec } from '../../src/rich.js';
import { serve } from '../../src/node.js';
import type { MuxServer, UpgradeOptions } from '../../src/node.js';
import { launchBrowser, scriptOf } from '../support/browser.js';
import { portOf } from '../support/socket/handshake.js';
import { turn, until } from '../support/socket/leaks.js';
import { SlowLine } from '../support/socket/slow-line.js';
import { spoilt, undecodable, wrongKind } from '../support/socket/spoilt.js';
import type { CodecName, Operations, SocketName, WorkerAsk } from './page.js';

const MIB = 1024 * 1024;
const KB = 1_000;
const PIECES = 200;

interface Ask {
  readonly op: string;
  readonly value?: unknown;
  readonly count?: number;
}

let http: Server;
let browser: Browser;
let page: Page;
const muxes: MuxServer[] = [];
const sockets = new Set<Socket>();
let notes: unknown[];
let ends: CloseReason[];
let lastCause: Promise<unknown>;

const answers: Readonly<Record<string, (ask: Ask, stream: Stream) => unknown>> = {
  echo: ({ value }, stream) => stream.reply(value),
  headers: (_ask, stream) => stream.reply(stream.headers, { headers: { served: 'by' }, trailers: { rows: 1 } }),
  size: ({ value }, stream) => stream.reply((value as string).length),
  count: ({ count = 0 }, stream) => stream.sendAll(range(0, count)),
  sum: async (_ask, stream) => {
    let sum = 0;
    for await (const chunk of stream as Stream<string>) sum += chunk.length;
    await stream.reply(sum);
  },
  double: (_ask, stream) => stream.sendAll((stream as Stream<number>).pipe(map((n) => n * 2))),
  note: ({ value }) => void notes.push(value),
  push: async (_ask, stream) => stream.reply(await stream.peer.request('news')),
  ticks: async (_ask, stream) => {
    lastCause = stream.closed;
    for (let n = 0; !stream.signal.aborted; n++) {
      await stream.send(n);
      await turn();
    }
  },
  'last cause': async (_ask, stream) => stream.reply(await lastCause),
  flood: async (_ask, stream) => {
    while (!stream.signal.aborted) {
      await stream.send('x'.repeat(60_000)).catch(() => undefined);
      await turn();
    }
  },
  throw: () => {
    throw new RangeError('no such row');
  },
  never: (_ask, stream) => stream.closed,
  outlasted: (_ask, stream) => (lastCause = stream.closed),
};

const handler: StreamHandler = (payload, stream) => answers[(payload as Ask).op]?.(payload as Ask, stream);

/** A server that sends a stream of 12 MB without a look at pongs or at its socket. It returns its port. */
async function serveUnpaced(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    socket.once('message', () => {
      const payload = 'x'.repeat(60 * KB);
      for (let n = 1; n <= PIECES; n++) socket.send(JSON.stringify({ type: 'data', stream: 1, payload, end: n === PIECES }));
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: portOf(server),
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Runs one operation in the page. */
async function run<K extends keyof Operations>(name: K, ...args: Parameters<Operations[K]>): Promise<Awaited<ReturnType<Operations[K]>>> {
  return page.evaluate(
    ([operation, given]) => {
      const { operations } = globalThis as unknown as { operations: Record<string, (...args: readonly unknown[]) => unknown> };
      return operations[operation]?.(...given);
    },
    [name, args] as const,
  ) as Promise<Awaited<ReturnType<Operations[K]>>>;
}

type WorkerKind = 'dedicated' | 'shared' | 'service';

/** Runs one operation in a worker of the page. */
async function runInWorker(kind: WorkerKind, name: keyof Operations, ...args: readonly unknown[]): Promise<unknown> {
  return page.evaluate(
    async ([where, ask]: readonly [WorkerKind, WorkerAsk]) => {
      const [script, options] = [`/page.js${location.search}`, { type: 'module' }] as const;
      const workers = {
        dedicated: () => new Worker(script, options),
        shared: () => new SharedWorker(script, options).port,
        service: async () => {
          await navigator.serviceWorker.register(script, options);
          return (await navigator.serviceWorker.ready).active;
        },
      };
      const { port1, port2 } = new MessageChannel();
      const outcome = new Promise((resolve) => {
        port1.onmessage = ({ data }) => {
          resolve(data);
        };
      });
      (await workers[where]())?.postMessage(ask, [port2]);
      return outcome;
    },
    [kind, { name, args }] as const,
  );
}

function serveAt(path: string, codec: Codec, options: UpgradeOptions = {}): void {
  const mux = serve({ keepalive: false, handler, ...options, codec, path, server: http });
  mux.peers$.subscribe((peer) => peer.onClose((reason) => ends.push(reason)));
  muxes.push(mux);
}

/** Starts a server for each situation in which a page may meet one. */
function serveAll(codec: Codec): void {
  const pinging: UpgradeOptions = { onPeer: (peer) => void peer.opened.then(() => peer.ping()).catch(() => undefined) };
  serveAt(`/${codec.name}`, codec);
  serveAt(
    `/${codec.name}/undecodable`,
    spoilt(codec, () => undecodable(codec)),
    pinging,
  );
  serveAt(
    `/${codec.name}/wrong-kind`,
    spoilt(codec, () => wrongKind(codec)),
    pinging,
  );
  serveAt(`/${codec.name}/greeting`, codec, { onHello: (token, stream) => stream.reply(`welcome ${String(token)}`) });
  serveAt(`/${codec.name}/leaving`, codec, { handler: (_payload, stream) => void stream.peer.close({ reason: 'moving' }) });
  serveAt(`/${codec.name}/dying`, codec, {
    handler: () => {
      for (const socket of sockets) socket.destroy();
    },
  });
  serveAt(`/${codec.name}/forbidden`, codec, { verify: () => false });
  serveAt(`/${codec.name}/other-origin`, codec, { origins: ['https://example.org'] });
}

beforeAll(async () => {
  const script = scriptOf('spec/browser/page.ts');
  http = createServer((request, response) => {
    const isScript = request.url?.startsWith('/page.js');
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? script : '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>');
  });
  http.setMaxListeners(0);
  http.on('connection', (socket) => sockets.add(socket));
  for (const codec of [new JsonCodec(), new MsgpackCodec(), new RichCodec()]) serveAll(codec);
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  browser = await launchBrowser();
  page = await browser.newPage();
});

afterAll(async () => {
  await browser.close();
  await Promise.all(muxes.map((mux) => mux.close()));
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

describe.each<SocketName>(['WebSocket', 'WebSocketStream'])('over %s', (socket) => {
  beforeEach(async () => {
    notes = [];
    ends = [];
    await page.goto(`http://127.0.0.1:${portOf(http)}/?${socket}`);
    await page.waitForFunction(() => 'operations' in globalThis);
  });

  afterEach(async () => {
    for (const made of Object.keys(await run('sockets'))) expect(made).toBe(socket);
  });

  describe('a page', () => {
    it('A page sends a native Observable as an input', async () => {
      expect(await run('nativeInput')).toEqual([8, 8]);
    });

    it('A page receives rich values as it sent them', async () => {
      expect(await run('richEcho')).toEqual([true, true, 70_000, true]);
    });
  });

  describe.each<CodecName>(['json', 'msgpack', 'rich'])('a page, with %s', (codec) => {
    it('A page sends a request and receives the answer', async () => {
      expect(await run('request', codec)).toEqual({ n: 1, text: 'é😀', list: [null, true] });
      expect(ends).toEqual([{ code: 1000, reason: '', wasClean: true, willRetry: false }]);
    });

    it('A page receives headers and trailers', async () => {
      expect(await run('headers', codec)).toEqual({ value: { token: 'x' }, replyHeaders: { served: 'by' }, trailers: { rows: 1 } });
    });

    it('A page keeps up with a fast stream of 20 000 values', async () => {
      expect(await run('serverStream', codec, 20_000)).toBe(true);
    });

    it('A page uploads 4 MiB in pieces', async () => {
      expect(await run('upload', codec, 64)).toBe(4 * MIB);
    });

    it('A page sends 4 MiB as one payload and receives them back', async () => {
      expect(await run('big', codec, 4 * MIB)).toBe(true);
    });

    it('A page exchanges values both ways over one stream', async () => {
      expect(await run('twoWay', codec)).toEqual([2, 4, 6]);
    });

    it('A page sends a notification before it closes', async () => {
      await run('notify', codec);
      await until('the note', () => notes.length > 0);
      expect(notes).toEqual([codec]);
    });

    it('A page answers a stream that the server opens', async () => {
      expect(await run('push', codec)).toBe('seen news');
    });

    it('A page cancels the producer when it has enough values', async () => {
      expect(await run('cancel', codec)).toEqual({
        first: [0, 1, 2],
        cause: expect.objectContaining({ how: 'reset', by: 'remote', code: 8 }),
      });
    });

    it('A page receives the error that a handler throws', async () => {
      expect(await run('failure', codec)).toEqual({ reason: 'no such row', payload: { name: 'RangeError', message: 'no such row' } });
    });

    it('A page keeps 100 interleaved streams apart', async () => {
      expect(await run('interleaved', codec, 100, 100)).toBe(true);
    });

    it('A page measures a ping', async () => {
      expect(await run('ping', codec)).toBeGreaterThanOrEqual(0);
    });

    it('A page sends its hello first', async () => {
      expect(await run('hello', codec)).toEqual({ opened: true, answer: 1 });
    });

    it('A page resets a stream without a reader, and no other', async () => {
      expect(await run('unread', codec)).toMatchObject({
        cause: { how: 'reset', by: 'library', code: ResetCode.FLOW_CONTROL },
        alive: 'yes',
      });
    });

    it('A page closes with 1000 and a reason', async () => {
      const reason = { code: 1000, reason: 'page closed', wasClean: true, willRetry: false };
      expect(await run('close', codec)).toEqual(reason);
      expect(ends).toEqual([reason]);
    });

    it("A page receives the server's close reason", async () => {
      expect(await run('ended', codec, `/${codec}/leaving`)).toMatchObject({ reason: { code: 1000, reason: 'moving', wasClean: true } });
    });

    it('A page loses its streams with the socket', async () => {
      expect(await run('ended', codec, `/${codec}/dying`)).toMatchObject({
        reason: { code: 1006, wasClean: false },
        cause: { how: 'lost', reason: { code: 1006 } },
      });
    });

    it.each([
      ['undecodable', 4002],
      ['wrong-kind', 4003],
    ] as const)('A page closes at a message that is %s with %i, a code that a browser may send', async (what, code) => {
      const { reason } = await run('ended', codec, `/${codec}/${what}`);
      expect(reason).toMatchObject({ code, wasClean: true });
      await until('the server to hear of it', () => ends.length > 0);
      expect(ends).toMatchObject([{ code, wasClean: true }]);
      expect(ends[0]?.reason).not.toBe('');
    });

    it.each([
      ['another codec', `/${codec === 'json' ? 'msgpack' : 'json'}`],
      ['verify', `/${codec}/forbidden`],
      ['the origin', `/${codec}/other-origin`],
      ['the path', '/nowhere'],
    ])('A page warns with the likely cause when %s is in the way', async (_what, path) => {
      if (path === '/nowhere') http.once('upgrade', (_request, socket) => socket.destroy());
      const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
      const refused = await run('refused', codec, path);
      warn.mockRestore();
      expect(refused).toMatchObject({ status: null, closed: { code: 1006, wasClean: false, willRetry: false } });
      for (const suspect of ['address', 'codec', 'origin', 'proxies']) expect(refused?.message).toContain(suspect);
    });
  });

  describe('a page without a connection', () => {
    it('A page dials at once when the network is back', async () => {
      expect(await run('wakes')).toEqual({ state: 'open', reconnects: 1 });
    });

    it('A page without network goes on dialing its own machine, and connects when the network is back', async () => {
      await page.context().setOffline(true);
      expect(await run('dialsOffline')).toMatchObject({ state: 'waiting', offline: false });
      await page.context().setOffline(false);
      expect(await run('isBack')).toBe('back');
    });

    it('A page in the back/forward cache has closed its socket, so producers end, and dials when it is shown again', async () => {
      await run('stays');
      await page.goto('about:blank');
      await until('the server to hear of it', () => ends.length > 0);
      const left = { code: 4001, reason: 'the page was left', wasClean: true, willRetry: false };
      expect([ends, await lastCause]).toEqual([[left], { how: 'lost', reason: left }]);
      await page.goBack({ waitUntil: 'commit' });
      expect(await run('hasReconnected')).toEqual({ status: { state: 'open', reconnects: 1 }, answer: 'back' });
    });

    it('A page that runs again, or becomes visible, probes its socket', async () => {
      expect(await run('probes')).toEqual([
        ['freeze', []],
        ['resume', ['ping']],
        ['visibilitychange', ['ping']],
      ]);
    });
  });

  describe.each<WorkerKind>(['dedicated', 'shared', 'service'])('a %s worker', (kind) => {
    const inWorker = (name: keyof Operations, ...args: readonly unknown[]): Promise<unknown> => runInWorker(kind, name, ...args);

    it.each<CodecName>(['json', 'msgpack'])(`A ${kind} worker sends requests, streams and uploads, with %s`, async (codec) => {
      expect(await inWorker('request', codec)).toEqual({ n: 1, text: 'é😀', list: [null, true] });
      expect(await inWorker('serverStream', codec, 2_000)).toBe(true);
      expect(await inWorker('big', codec, MIB)).toBe(true);
      expect(await inWorker('push', codec)).toBe('seen news');
      expect(ends).toEqual(new Array(4).fill({ code: 1000, reason: '', wasClean: true, willRetry: false }));
    });

    it(`A ${kind} worker dials at once when the network is back`, async () => {
      expect(await inWorker('wakes')).toEqual({ state: 'open', reconnects: 1 });
    });
  });

  it('A page sends bytes and receives them back, with msgpack', async () => {
    expect(await run('bytes')).toBe(true);
  });

  it('A page stops a sender that does not pace itself if its platform can stop reading', async () => {
    const server = await serveUnpaced();
    const outcome = await run('late', server.port);
    if (socket === 'WebSocketStream') expect(outcome).toBe(PIECES);
    else expect(outcome).toContain('FLOW_CONTROL');
    await server.close();
  });

  describe('a page on a slow line', () => {
    it('A page with the default options uploads 600 kB at 10 to 15 kB/s, and closes with 1000', async () => {
      muxes.push(serve({ server: http, path: '/default', handler }));
      const target = { host: '127.0.0.1', port: portOf(http) };
      const lines = await Promise.all([10, 12, 15].map((rate) => SlowLine.listen({ host: '127.0.0.1', port: 0 }, target, rate * KB)));
      const outcomes = await Promise.all(lines.map(({ port }) => run('uploadOverPort', port, 600 * KB)));
      for (const outcome of outcomes) expect(outcome).toEqual({ size: 600 * KB, closed: expect.objectContaining({ code: 1000 }) });
      await Promise.all(lines.map((line) => line.close()));
    });
  });
});
