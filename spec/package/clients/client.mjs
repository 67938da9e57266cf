// Prints the outcomes of the calls over one kind of socket: `client.mjs SOCKET URL`. Runs on Node, Bun and Deno.
import console from 'node:console';
import process from 'node:process';
import { outcomes } from './outcomes.mjs';

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

const [name, url] = process.argv.slice(2);
console.log(JSON.stringify(await outcomes(url, await SOCKETS[name]())));
// A socket of another library may keep the process alive.
process.exit(0);
