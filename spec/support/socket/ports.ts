import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Returns a port that the system has chosen, and that is free again. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves once the port accepts a connection. */
export async function accepting(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const accepts = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (accepts) return;
    await setTimeout(50);
  }
}
