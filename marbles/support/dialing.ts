import { connect } from '../../src/index.js';
import type { ConnectOptions, Peer } from '../../src/index.js';
import { createServer } from '../../src/testing.js';
import type { TestServer, TestServerOptions } from '../../src/testing.js';

/** Reconnects without delay, so that a diagram shows the moment. */
export const AT_ONCE = { minDelayMs: 0, maxDelayMs: 0 } as const;

/** A server in memory, and the peers that it has accepted. */
export interface Dialed {
  readonly server: TestServer;
  /** The peer on the server's side that was accepted last. */
  readonly accepted: () => Peer;
  /** Dials the server. */
  readonly dial: (options?: ConnectOptions) => Peer;
}

/** Creates a server that passes each of its peers to `accept`. */
export function dialed(accept: (peer: Peer) => void, options: TestServerOptions = {}): Dialed {
  const server = createServer(options);
  let last: Peer | null = null;
  server.peers$.subscribe((peer) => {
    last = peer;
    accept(peer);
  });
  return {
    server,
    accepted: () => {
      if (last === null) throw new Error('expected an accepted peer, got none');
      return last;
    },
    dial: (dialing = {}) => connect('ws://test', { socket: server.socket, keepalive: false, reconnect: AT_ONCE, ...dialing }),
  };
}
