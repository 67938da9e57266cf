import { once } from 'node:events';
import { WebSocket } from 'ws';

/** The header that a page of the server sends. */
export const originOf = (port) => `http://127.0.0.1:${port}`;

/** Dials with a bare WebSocket. Returns its first message. */
export async function firstMessage(port, path, protocols = []) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { origin: originOf(port) });
  const [data] = await once(socket, 'message');
  socket.terminate();
  return String(data);
}

/** Dials with a bare WebSocket. Returns how the server answers: `101`, another status, or `ended` for a connection without an answer. */
export function answerAt(port, path) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { origin: originOf(port) });
  return new Promise((resolve) => {
    socket.on('open', () => {
      socket.terminate();
      resolve('101');
    });
    socket.on('unexpected-response', (request, { statusCode }) => {
      request.destroy();
      resolve(String(statusCode));
    });
    socket.on('error', () => resolve('ended'));
  });
}
