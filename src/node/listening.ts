import { errorMonitor } from 'node:events';
import type { EventEmitter } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

const DECISIVE = ['listening', 'close', errorMonitor] as const;

/** Promises that are still pending. All callers share one, so that each server has one set of listeners. */
const PENDING = new WeakMap<Server, Promise<AddressInfo | string>>();

/** Resolves with the server's address once it listens, and rejects when it cannot. Then it removes its listeners from the server. */
export function listening(server: Server): Promise<AddressInfo | string> {
  const pending = PENDING.get(server) ?? decided(server);
  // A server that listens already has decided, and may listen elsewhere later.
  if (!server.listening) PENDING.set(server, pending);
  return pending;
}

function decided(server: Server): Promise<AddressInfo | string> {
  const events: EventEmitter = server;
  return new Promise((resolve, reject) => {
    // Some platforms call `listening` with an argument.
    const decide = (error?: Error | null): void => {
      for (const event of DECISIVE) events.off(event, decide);
      PENDING.delete(server);
      const address = server.address();
      if (error != null) reject(error);
      else if (address === null) reject(new Error('expected the server to listen, but it was closed before'));
      else resolve(address);
    };
    if (server.listening) decide();
    // Only monitor the error: on a server of the user's it must not count as handled.
    else for (const event of DECISIVE) events.on(event, decide);
  });
}
