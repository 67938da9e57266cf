import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { NEVER, concat, of } from 'rxjs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import type { StreamHandler } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { handshake } from '../support/socket/handshake.js';

collectLogs();

const HOUR = 3_600_000;
/** Answers, and goes on. */
const hold: StreamHandler = (_payload, stream) => stream.sendAll(concat(of('held'), NEVER));
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A server, the port at which it answers, and the HTTP server of the user if it has joined one. */
interface Rig {
  readonly mux: MuxServer;
  readonly port: number;
  readonly http?: Server;
}

async function own(options: object = {}): Promise<Rig> {
  const mux = serve({ port: 0, host: '127.0.0.1', healthPath: '/healthz', handler: hold, ...options });
  const { port } = await mux.listening;
  ends.push(() => mux.close());
  return { mux, port };
}

async function joined(options: object = {}, listener: RequestListener = (_request, response) => response.end('a page')): Promise<Rig> {
  const http = createServer(listener).listen(0, '127.0.0.1');
  const mux = serve({ healthPath: '/healthz', handler: hold, ...options, server: http });
  const { port } = await mux.listening;
  ends.push(
    () => new Promise((closed) => http.close(closed)),
    () => {
      http.closeAllConnections();
    },
    () => mux.close(),
  );
  return { mux, port, http };
}

async function ask(
  port: number,
  path = '/healthz',
  method = 'GET',
): Promise<readonly [status: number | undefined, retry: unknown, body: string]> {
  const sent = httpRequest({ port, host: '127.0.0.1', path, method, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return [response.statusCode, response.headers['retry-after'], await text(response)];
}

/** Begins a drain that one stream holds up. */
async function drain({ mux, port }: Rig): Promise<void> {
  const peer = connect(`ws://127.0.0.1:${port}`);
  ends.push(() => peer.close());
  const [, reached] = await Promise.all([
    peer.opened,
    new Promise((held) => {
      const subscription = peer.open$('hold').subscribe({ next: held, error: () => undefined });
      ends.push(() => subscription.unsubscribe());
    }),
  ]);
  expect(reached).toBe('held');
  void mux.close({ drainMs: HOUR });
}

describe.each([
  ['on a port of its own', own],
  ['on an HTTP server of the user', joined],
])('a server with a healthPath %s', (_where, started) => {
  it.each(['/healthz', '/healthz?full=1'])('A server answers GET of %s by 200', async (path) => {
    const { port } = await started();
    expect(await ask(port, path)).toEqual([200, undefined, 'ok\n']);
  });

  it('A server answers HEAD of its healthPath by 200 without a body', async () => {
    const { port } = await started();
    expect(await ask(port, '/healthz', 'HEAD')).toEqual([200, undefined, '']);
  });

  it('A server that drains answers its healthPath by 503 with Retry-After', async () => {
    const rig = await started(started === own ? { listenWhileDraining: true } : {});
    await drain(rig);
    expect([await ask(rig.port), await ask(rig.port, '/healthz', 'HEAD')]).toEqual([
      [503, '1', 'this side is going away\n'],
      [503, '1', ''],
    ]);
  });

  it('A server upgrades at its healthPath, too', async () => {
    const { port } = await started({ path: '/healthz' });
    const { status, socket } = await handshake({ address: () => ({ port, address: '127.0.0.1', family: 'IPv4' }) }, { path: '/healthz' });
    socket.destroy();
    expect([status, await ask(port)]).toEqual([101, [200, undefined, 'ok\n']]);
  });
});

it('A server of its own answers other paths and methods by 426', async () => {
  const { port } = await own();
  const others = [await ask(port, '/'), await ask(port, '/healthz/'), await ask(port, '/healthz', 'POST')];
  expect(others.map(([status]) => status)).toEqual([426, 426, 426]);
});

it('An HTTP server of the user never sees a health check, and all other requests', async () => {
  const seen: unknown[] = [];
  const { port, http } = await joined({}, (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('a page');
  });
  http?.on('request', (request: IncomingMessage) => seen.push(`later ${request.method} ${request.url}`));
  await ask(port);
  expect(await ask(port, '/other')).toEqual([200, undefined, 'a page']);
  expect(await ask(port, '/healthz', 'POST')).toEqual([200, undefined, 'a page']);
  expect(seen).toEqual(['GET /other', 'later GET /other', 'POST /healthz', 'later POST /healthz']);
});

it('An HTTP server of the user sees its health checks again once the server has closed', async () => {
  const { mux, port, http } = await joined();
  await mux.close();
  expect(await ask(port)).toEqual([200, undefined, 'a page']);
  expect(Object.hasOwn(http ?? {}, 'emit')).toBe(false);
});

it('Two servers on one HTTP server answer each their healthPath, whichever closes first', async () => {
  const { mux, port, http } = await joined();
  if (http === undefined) throw new Error('expected an HTTP server');
  const second = serve({ server: http, path: '/other', healthPath: '/ready' });
  await mux.close();
  expect([await ask(port), await ask(port, '/ready')]).toEqual([
    [200, undefined, 'a page'],
    [200, undefined, 'ok\n'],
  ]);
  await second.close();
  expect(await ask(port, '/ready')).toEqual([200, undefined, 'a page']);
});

it('Two servers with one healthPath answer 200 as long as one of them takes peers', async () => {
  const rig = await joined({ path: '/old' });
  if (rig.http === undefined) throw new Error('expected an HTTP server');
  const next = serve({ server: rig.http, path: '/mux', healthPath: '/healthz', handler: hold });
  const { mux, port } = rig;
  const peer = connect(`ws://127.0.0.1:${port}/mux`);
  ends.push(
    () => peer.close(),
    () => next.close(),
  );
  await peer.opened;
  const held = new Promise((resolve) => peer.open$('hold').subscribe({ next: resolve, error: () => undefined }));
  await held;
  void next.close({ drainMs: HOUR });
  const while1 = await ask(port);
  void mux.close();
  expect([while1[0], (await ask(port))[0]]).toEqual([200, 503]);
});

it('A server whose muxes are replaced a thousand times calls each listener as directly as before', async () => {
  const { http, mux } = await joined();
  if (http === undefined) throw new Error('expected an HTTP server');
  let last = mux;
  for (let n = 0; n < 1000; n++) {
    const next = serve({ server: http, healthPath: '/healthz' });
    await last.close();
    last = next;
  }
  Error.stackTraceLimit = 5000;
  let depth = 0;
  http.once('probe', () => (depth = new Error('depth').stack?.split('\n').length ?? 0));
  http.emit('probe');
  Error.stackTraceLimit = 10;
  await last.close();
  expect(depth).toBeLessThan(100);
});

it.each([
  ['without other listeners', false],
  ['beside a listener of upgrades', true],
])('An HTTP server of the user answers a probe that offers h2c, as Java sends it, %s', async (_what, isBeside) => {
  const http = createServer().listen(0, '127.0.0.1');
  if (isBeside) http.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const mux = serve({ server: http, healthPath: '/healthz' });
  const { port } = await mux.listening;
  ends.push(
    () => http.close(),
    () => mux.close(),
  );
  const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAEAAEAAAAIAAAAB' };
  const sent = httpRequest({ port, host: '127.0.0.1', path: '/healthz', headers, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect([response.statusCode, await text(response)]).toEqual([200, 'ok\n']);
});
