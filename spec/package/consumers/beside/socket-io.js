// What from-socket-io.md says of socket.io, run.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';

export async function checkSocketIo() {
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server = new Server(http);
  const received = [];
  server.on('connection', (socket) => {
    socket.on('note', (text, reply) => reply(received.push(text)));
    socket.on('silent', () => undefined);
    socket.on('fails', () => {
      throw new Error('full');
    });
  });
  const lose = () => {
    for (const { conn } of server.sockets.sockets.values()) conn.close(true);
  };

  const socket = io(`http://127.0.0.1:${http.address().port}`, { transports: ['websocket'], reconnectionDelay: 10 });
  await once(socket, 'connect');
  const called = [];
  const lost = ['emitWithAck', 'timeout'].map((how) =>
    (how === 'timeout' ? socket.timeout(60_000) : socket).emitWithAck('silent').catch((error) => error.message),
  );
  socket.emit('silent', () => called.push('plain'));
  socket.timeout(60_000).emit('silent', (error) => called.push(error.message));
  await socket.emitWithAck('note', 'before');

  const away = once(socket, 'disconnect');
  lose();
  await away;
  assert.deepEqual(await Promise.all(lost), ['socket has been disconnected', 'socket has been disconnected']);
  // Until it dials again, a volatile event is queued as any other. While it dials, the event is dropped.
  socket.volatile.emit('note', 'volatile', () => undefined);
  socket.io.once('reconnect_attempt', () => queueMicrotask(() => socket.volatile.emit('note', 'dropped', () => undefined)));
  await socket.emitWithAck('note', 'queued');
  assert.deepEqual(received, ['before', 'volatile', 'queued']);
  assert.deepEqual(called, ['socket has been disconnected']);

  for (const event of ['silent', 'unknown'])
    await assert.rejects(socket.timeout(50).emitWithAck(event), { message: 'operation has timed out' });
  const uncaught = once(process, 'uncaughtException');
  socket.emit('fails');
  const [error] = await uncaught;
  assert.equal(error.message, 'full');
  socket.close();
  void server.close();
}
