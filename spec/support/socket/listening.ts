import type { Server } from 'node:net';

/** Makes a server listen on a free port of 127.0.0.1. Returns it once it does. */
export async function listening<S extends Server>(server: S): Promise<S> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

/** Closes a server. Resolves once its last connection has ended. */
export async function closing(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}
