// What a caller sees when its socket is lost while a call is under way, after that, and when the handler throws.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { os } from '@orpc/server';
import { RPCHandler } from '@orpc/server/ws';
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { buildSchema } from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { connect, serve } from 'rxmux/node';
import { answering, client, contract, request } from 'rxmux/contract';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { WebSocket, WebSocketServer } from 'ws';

// On Node 20 capnweb expects the class of a browser.
globalThis.WebSocket ??= WebSocket;
const { RpcTarget, newWebSocketRpcSession } = await import('capnweb');

class FullError extends Error {
  name = 'FullError';
  code = 'FULL';
}

/** A handler whose first calls wait for ever, so that their socket can be lost. */
function makeWork() {
  let begun = () => undefined;
  let isLost = false;
  return {
    runs: 0,
    async slow() {
      this.runs++;
      begun();
      return isLost ? 'done' : new Promise(() => undefined);
    },
    bad() {
      throw new FullError('full');
    },
    begins: () => new Promise((resolve) => (begun = resolve)),
    lose(cut) {
      isLost = true;
      cut();
    },
  };
}

const facts = (error) => ({ class: error.constructor.name, name: error.name, code: error.code, message: error.message });
const outcome = (promise) => Promise.resolve(promise).then(String, facts);

async function webSockets() {
  const wss = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(wss, 'listening');
  const cut = () => {
    for (const socket of wss.clients) socket.terminate();
  };
  return { wss, url: `ws://127.0.0.1:${wss.address().port}`, cut };
}

/** Each returns `call`, `bad`, `cut` and `end`. */
const LIBRARIES = {
  async trpc(work) {
    const { wss, url, cut } = await webSockets();
    const t = initTRPC.create();
    const router = t.router({ slow: t.procedure.mutation(() => work.slow()), bad: t.procedure.query(() => work.bad()) });
    applyWSSHandler({ wss, router });
    const socket = createWSClient({ url, WebSocket });
    const trpc = createTRPCClient({ links: [wsLink({ client: socket })] });
    return { call: () => trpc.slow.mutate(), bad: () => trpc.bad.query(), cut, end: () => socket.close() };
  },
  async orpc(work) {
    const { wss, url, cut } = await webSockets();
    const handler = new RPCHandler({ slow: os.handler(() => work.slow()), bad: os.handler(() => work.bad()) });
    wss.on('connection', (socket) => void handler.upgrade(socket, { context: {} }));
    const socket = new WebSocket(url);
    const orpc = createORPCClient(new RPCLink({ websocket: socket }));
    return { call: () => orpc.slow(), bad: () => orpc.bad(), cut, end: () => socket.terminate() };
  },
  async capnweb(work) {
    class Api extends RpcTarget {
      slow() {
        return work.slow();
      }
      bad() {
        return work.bad();
      }
    }
    const { wss, url, cut } = await webSockets();
    wss.on('connection', (socket) => newWebSocketRpcSession(socket, new Api()));
    const api = newWebSocketRpcSession(new WebSocket(url));
    return { call: () => api.slow(), bad: () => api.bad(), cut, end: () => undefined };
  },
  async graphql(work) {
    const { wss, url, cut } = await webSockets();
    const roots = { query: { bad: () => work.bad() }, mutation: { slow: () => work.slow() } };
    useServer({ schema: buildSchema('type Query { bad: String } type Mutation { slow: String }'), roots }, wss);
    const socket = createClient({ url, webSocketImpl: WebSocket });
    const ask = async (query) => {
      const { value } = await socket.iterate({ query }).next();
      if (value.errors !== undefined) throw value.errors[0];
      return value.data.slow;
    };
    return { call: () => ask('mutation { slow }'), bad: () => ask('{ bad }'), cut, end: () => socket.dispose() };
  },
  async socketIo(work) {
    const http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    const server = new Server(http);
    server.on('connection', (socket) => socket.on('slow', (reply) => void work.slow().then(reply)));
    const socket = io(`http://127.0.0.1:${http.address().port}`, { transports: ['websocket'] });
    const cut = () => {
      for (const { conn } of server.sockets.sockets.values()) conn.close(true);
    };
    return { call: () => socket.timeout(60_000).emitWithAck('slow'), cut, end: () => socket.close() };
  },
  async rxmux(work) {
    const api = contract({ slow: request(), bad: request() });
    const http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    let socket;
    http.on('connection', (connection) => (socket = connection));
    const server = serve({ server: http, ...answering(api, { slow: () => work.slow(), bad: () => work.bad() }) });
    const peer = connect(server.url, { reconnect: true });
    const calls = client(peer, api);
    return { call: () => calls.slow.promise(), bad: () => calls.bad.promise(), cut: () => socket.destroy(), end: () => peer.close() };
  },
};

/** What the tables of the migration pages say. */
const EXPECTED = {
  trpc: {
    thrown: { class: 'TRPCClientError', name: 'TRPCClientError', code: undefined, message: 'full' },
    lost: { class: 'TRPCClientError', name: 'TRPCClientError', code: undefined, message: 'Unknown error' },
    after: 'done',
    runs: 2,
  },
  orpc: {
    thrown: { class: 'ORPCError', name: 'Error', code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' },
    lost: {
      class: 'AbortError',
      name: 'AbortError',
      code: undefined,
      message: '[AsyncIdQueue] Queue[2] was closed or aborted while waiting for pulling.',
    },
    after: { class: 'Error', name: 'Error', code: undefined, message: 'Cannot send message, WebSocket is not open.' },
    runs: 1,
  },
  capnweb: {
    thrown: { class: 'Error', name: 'Error', code: 'FULL', message: 'full' },
    lost: { class: 'Error', name: 'Error', code: undefined, message: 'Peer closed WebSocket: 1006 ' },
    after: { class: 'Error', name: 'Error', code: undefined, message: 'Peer closed WebSocket: 1006 ' },
    runs: 1,
  },
  graphql: {
    thrown: { class: 'Object', name: undefined, code: undefined, message: 'full' },
    // The lost mutation ran twice.
    lost: 'done',
    after: 'done',
    runs: 3,
  },
  socketIo: {
    thrown: null,
    lost: { class: 'Error', name: 'Error', code: undefined, message: 'socket has been disconnected' },
    after: 'done',
    runs: 2,
  },
  rxmux: {
    thrown: { class: 'RemoteError', name: 'RemoteError', code: 'REMOTE', message: 'full' },
    lost: {
      class: 'ConnectionLostError',
      name: 'ConnectionLostError',
      code: 'CONNECTION_LOST',
      message: 'stream 3: connection lost (1006)',
    },
    after: 'done',
    runs: 2,
  },
};

async function seen(name) {
  const work = makeWork();
  const { call, bad, cut, end } = await LIBRARIES[name](work);
  const thrown = bad === undefined ? null : await outcome(bad());
  const begins = work.begins();
  const lost = outcome(call());
  await begins;
  work.lose(cut);
  const found = { thrown, lost: await lost, after: await outcome(call()), runs: work.runs };
  await end();
  return found;
}

export async function checkLost() {
  for (const [name, expected] of Object.entries(EXPECTED)) assert.deepEqual({ name, ...(await seen(name)) }, { name, ...expected });
}
