import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { serve } from '../../../src/node.js';
import type { MuxServer, Refusal, UpgradeOptions } from '../../../src/node.js';
import type { Peer } from '../../../src/index.js';
import { until } from './leaks.js';
import { closing } from './listening.js';

/** A mux server attached to the test's HTTP server, and the peers that it accepted. */
export interface TestServer {
  readonly http: Server;
  readonly mux: MuxServer;
  readonly peers: Peer[];
  readonly refusals: Pick<Refusal, 'status' | 'reason'>[];
  /** Ends everything; resolves when the port is free again. */
  dispose(): Promise<void>;
}

/** Serves on a free port of 127.0.0.1. */
export async function testServer(options: UpgradeOptions & { readonly path?: string } = {}): Promise<TestServer> {
  const http = createServer((_request, response) => response.end('a page'));
  const mux = serve({ keepalive: false, ...options, server: http });
  http.listen(0, '127.0.0.1');
  await mux.listening;
  const peers: Peer[] = [];
  const refusals: TestServer['refusals'] = [];
  mux.peers$.subscribe((peer) => peers.push(peer));
  mux.refusals$.subscribe(({ status, reason }) => refusals.push({ status, reason }));
  return {
    http,
    mux,
    peers,
    refusals,
    async dispose() {
      await mux.close();
      http.closeAllConnections();
      await closing(http);
    },
  };
}

/** Resolves once no TCP connection of the server is left. */
export async function emptied(http: Server): Promise<void> {
  let open = Infinity;
  await until('every connection to be closed', () => {
    http.getConnections((_error, count) => {
      open = count;
    });
    return open === 0;
  });
}
