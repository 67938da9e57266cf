// Libraries that answer upgrades of an HTTP server. Each joins one, talks with a client of its own, and leaves.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { buildSchema } from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import next from 'next';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { createServer as createVite } from 'vite';
import { WebSocket, WebSocketServer } from 'ws';
import { firstMessage } from './dial.js';

const t = initTRPC.create();
const router = t.router({
  hello: t.procedure.query(() => 'hello'),
  count: t.procedure.subscription(async function* count() {
    yield 1;
    yield 2;
  }),
});

function trpc(options) {
  return (http) => {
    const wss = new WebSocketServer({ server: http, ...options });
    applyWSSHandler({ wss, router });
    const talk = async (port) => {
      const socket = createWSClient({ url: `ws://127.0.0.1:${port}/other`, WebSocket });
      const client = createTRPCClient({ links: [wsLink({ client: socket })] });
      assert.equal(await client.hello.query(), 'hello');
      const counted = await new Promise((resolve, reject) => {
        const values = [];
        client.count.subscribe(undefined, { onData: (value) => values.push(value), onComplete: () => resolve(values), onError: reject });
      });
      assert.deepEqual(counted, [1, 2]);
      await socket.close();
    };
    return { talk, leave: () => wss.close() };
  };
}

function graphql(http) {
  const wss = new WebSocketServer({ server: http, path: '/other' });
  const { dispose } = useServer({ schema: buildSchema('type Query { hello: String }'), roots: { query: { hello: () => 'hello' } } }, wss);
  const talk = async (port) => {
    const client = createClient({ url: `ws://127.0.0.1:${port}/other`, webSocketImpl: WebSocket });
    for await (const { data } of client.iterate({ query: '{ hello }' })) assert.deepEqual({ ...data }, { hello: 'hello' });
    await client.dispose();
  };
  return { talk, leave: dispose };
}

function socketIo(http) {
  // Sockets that nobody has answered after this time are ended: `verify` takes longer.
  const server = new Server(http, { destroyUpgradeTimeout: 10 });
  server.on('connection', (socket) => socket.on('double', (n, reply) => reply(2 * n)));
  const talk = async (port) => {
    for (const transports of [['websocket'], ['polling']]) {
      const socket = io(`http://127.0.0.1:${port}`, { transports, forceNew: true });
      assert.equal(await socket.emitWithAck('double', 21), 42);
      socket.close();
    }
  };
  // It closes the HTTP server, too, and waits for all of its connections.
  return { talk, leave: () => void server.close() };
}

/** A custom server, in development: its page of every path ends upgrades, and its hot reload needs them. */
async function nextJs(http) {
  process.env.NEXT_TELEMETRY_DISABLED = '1';
  const app = next({ dev: true, hostname: '127.0.0.1', quiet: true });
  const handle = app.getRequestHandler();
  await app.prepare();
  http.on('request', handle);
  // It listens to upgrades from its first request on.
  const response = await fetch(`http://127.0.0.1:${http.address().port}/a/b`);
  assert.match(await response.text(), /page/);
  const talk = async (port) => assert.match(await firstMessage(port, '/_next/hmr?id=1'), /"type"/);
  return { talk, leave: () => app.close() };
}

/** Vite as a middleware of a server, with its hot reload on the same port. */
async function viteMiddleware(http) {
  const server = { middlewareMode: true, hmr: { server: http }, watch: null };
  const vite = await createVite({ configFile: false, logLevel: 'warn', appType: 'custom', server });
  http.on('request', vite.middlewares);
  const talk = async (port) =>
    assert.equal(await firstMessage(port, `/?token=${vite.config.webSocketToken}`, ['vite-hmr']), '{"type":"connected"}');
  return { talk, leave: () => vite.close() };
}

function bare(options) {
  return (http) => {
    const server = new WebSocketServer({ server: http, ...options });
    server.on('connection', (socket) => socket.send('hello'));
    return { talk: async (port) => assert.equal(await firstMessage(port, '/other'), 'hello'), leave: () => server.close() };
  };
}

/** `nobody` is the answer to an upgrade of a path that nobody has. */
export const LIBRARIES = [
  { name: 'a WebSocketServer with a path', join: bare({ path: '/other' }), nobody: '400' },
  { name: 'a WebSocketServer of all paths', join: bare({}), nobody: '101' },
  { name: 'tRPC with a path', join: trpc({ path: '/other' }), nobody: '400' },
  { name: 'tRPC of all paths', join: trpc({}), nobody: '101' },
  { name: 'graphql-ws', join: graphql, nobody: '400' },
  { name: 'socket.io', join: socketIo, nobody: 'ended' },
  { name: 'Vite as middleware', join: viteMiddleware, nobody: 'none' },
  { name: 'Next.js', join: nextJs, nobody: 'ended' },
];

/** Two servers of `ws` on one HTTP server, without rxmux. Returns what dialers of both paths see. */
export async function twoServers(http) {
  const servers = ['/a', '/b'].map((path) => new WebSocketServer({ server: http, path }));
  const seen = await Promise.all(
    ['/a', '/b'].map(async (path) => {
      const socket = new WebSocket(`ws://127.0.0.1:${http.address().port}${path}`);
      const [error] = await once(socket, 'error');
      return error.message;
    }),
  );
  for (const server of servers) server.close();
  return seen;
}
