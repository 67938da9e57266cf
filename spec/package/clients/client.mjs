// Uses every kind of call over one kind of socket, and prints the outcomes: `client.mjs SOCKET URL`. Runs on Node, Bun and Deno.
import console from 'node:console';
import process from 'node:process';
import { lastValueFrom, map, range, take, toArray } from 'rxjs';
import { connect } from 'rxmux';

const SOCKETS = {
  global: () => undefined,
  undici: async () => {
    const { WebSocket } = await import('undici');
    return (url, protocol) => new WebSocket(url, protocol);
  },
  websocket: async () => {
    const { default: websocket } = await import('websocket');
    return (url, protocol) => new websocket.w3cwebsocket(url, protocol);
  },
  'faye-websocket': async () => {
    const { default: faye } = await import('faye-websocket');
    return (url, protocol) => new faye.Client(url, [protocol]);
  },
  partysocket: async () => {
    const { WebSocket } = await import('partysocket');
    return (url, protocol) => new WebSocket(url, protocol);
  },
  webSocketStream: async () => {
    if (typeof WebSocketStream !== 'function') throw new Error('expected a platform with a WebSocketStream, got none');
    return (await import('rxmux/websocketstream')).webSocketStream();
  },
};

const PIECE = 'x'.repeat(64 * 1024);
const [name, url] = process.argv.slice(2);
const socket = await SOCKETS[name]();

async function over(path, use) {
  const peer = connect(`${url}${path}`, { socket });
  return { outcome: await use(peer), closed: await peer.close({ reason: 'that is all' }) };
}

const calls = await over('/mux', async (peer) => ({
  echo: await peer.request({ op: 'echo', value: 'é😀' }),
  count: (await lastValueFrom(peer.open$({ op: 'count' }).pipe(toArray()))).length,
  uploaded: await lastValueFrom(peer.open$({ op: 'size' }, { input: range(0, 16).pipe(map(() => PIECE)) })),
  first: await lastValueFrom(peer.open$({ op: 'ticks' }).pipe(take(3), toArray())),
  cause: await peer.request({ op: 'cause' }),
}));

const left = await over('/mux', async (peer) => {
  peer.open({ op: 'leave' });
  return peer.closed;
});

const refused = await over('/refused', (peer) => peer.opened.catch(({ code, status, message }) => ({ code, status, message })));

console.log(JSON.stringify({ ...calls.outcome, closed: calls.closed, left: left.outcome, refused: refused.outcome }));
// A socket of another library may keep the process alive.
process.exit(0);
