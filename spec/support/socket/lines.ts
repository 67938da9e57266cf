import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { firstValueFrom } from 'rxjs';
import { WebSocket as Ws } from 'ws';
import { connect } from '../../../src/index.js';
import type { Codec, ConnectOptions, Peer } from '../../../src/index.js';
import { accept, connect as connectWs, serve } from '../../../src/node.js';
import type { AcceptOptions } from '../../../src/node.js';
import { portSocket } from '../../../src/port.js';
import { createPair } from '../../../src/testing.js';
import { StreamSocket } from '../../../src/transport/stream-socket.js';
import { selfSigned } from './certificate.js';
import { streamOver } from './web-socket-stream.js';

/** Two peers joined by some transport. */
export interface Line {
  readonly dialer: Peer;
  readonly acceptor: Peer;
  /** Loses the socket without a closing handshake. */
  readonly lose: () => void;
  /** Ends everything; resolves when nothing is left. */
  dispose(): Promise<void>;
}

export interface LineOptions {
  readonly codec: Codec;
  readonly dialer?: Omit<ConnectOptions, 'socket'>;
  readonly acceptor?: AcceptOptions;
}

/** A transport that the contract spec runs against. */
export interface LineKind {
  readonly name: string;
  /** Resolves once the dial has succeeded, or failed after the handshake. */
  join(options: LineOptions): Promise<Line>;
  /** Whether the dialer really dials, and so can say hello. */
  readonly dials: boolean;
  /** Whether the dialer's platform can stop reading. */
  readonly pauses: boolean;
  /** Whether the dialer's platform sends no close code below 3000 but 1000. */
  readonly browserCodes: boolean;
}

const memory: LineKind = {
  name: 'memory',
  dials: false,
  pauses: true,
  browserCodes: false,
  join({ codec, dialer, acceptor }) {
    const pair = createPair({ codec, dialer, acceptor });
    return Promise.resolve({
      dialer: pair.dialer,
      acceptor: pair.acceptor,
      lose() {
        pair.link.cut();
      },
      async dispose() {
        await Promise.all([pair.dialer.close(), pair.acceptor.close()]);
      },
    });
  },
};

const port: LineKind = {
  name: 'a port of worker_threads',
  dials: true,
  pauses: true,
  browserCodes: false,
  async join({ codec, dialer: dialing, acceptor: accepting }) {
    const { port1, port2 } = new MessageChannel();
    const acceptor = accept(portSocket(port2), { ...accepting, codec: accepting?.codec ?? codec });
    const dialer = connect('ws://localhost', {
      ...dialing,
      codec: dialing?.codec ?? codec,
      socket: (_url, protocol) => portSocket(port1, protocol),
    });
    await dialer.opened.catch(() => undefined);
    return {
      dialer,
      acceptor,
      lose() {
        port1.close();
      },
      async dispose() {
        await Promise.all([dialer.close(), acceptor.close()]);
      },
    };
  },
};

/** Hides `pause` and `resume`, which browsers lack. */
const UNSTOPPABLE = { pause: { value: undefined }, resume: { value: undefined } };

const CERTIFICATE = selfSigned();

/** Every transport that this Node has. */
export const LINE_KINDS: readonly LineKind[] = [
  memory,
  port,
  overTcp('ws', { pauses: true, browserCodes: false }, (url, options) => connectWs(url, options)),
  overTcp('ws over TLS', { pauses: true, browserCodes: false, tls: CERTIFICATE }, (url, options) =>
    connectWs(url, { ...options, tls: { ca: CERTIFICATE.cert } }),
  ),
  overTcp('a W3C-shaped socket', { pauses: false, browserCodes: false }, (url, options) =>
    connect(url, { ...options, socket: (address, protocol) => Object.defineProperties(new Ws(address, protocol), UNSTOPPABLE) }),
  ),
  overTcp('a WebSocketStream', { pauses: true, browserCodes: true }, (url, options) =>
    connect(url, { ...options, socket: (address, protocol) => new StreamSocket(streamOver(new Ws(address, protocol))) }),
  ),
  ...(typeof WebSocket === 'function'
    ? [overTcp("Node's own WebSocket", { pauses: false, browserCodes: true }, (url, options) => connect(url, options))]
    : []),
];

function overTcp(
  name: string,
  { tls, ...platform }: Pick<LineKind, 'pauses' | 'browserCodes'> & { readonly tls?: typeof CERTIFICATE },
  dial: (url: string, options: Omit<ConnectOptions, 'socket'>) => Peer,
): LineKind {
  return {
    name,
    dials: true,
    ...platform,
    async join({ codec, dialer: dialing, acceptor: accepting }) {
      const http = tls === undefined ? createServer() : createTlsServer(tls);
      const sockets = new Set<Socket>();
      http.on('connection', (socket: Socket) => sockets.add(socket));
      const server = serve({ ...accepting, codec: accepting?.codec ?? codec, server: http });
      http.listen(0, '127.0.0.1');
      const { port } = await server.listening;
      const accepted = firstValueFrom(server.peers$);
      const dialer = dial(`${tls === undefined ? 'ws' : 'wss'}://127.0.0.1:${port}`, { ...dialing, codec: dialing?.codec ?? codec });
      const [acceptor] = await Promise.all([accepted, dialer.opened.catch(() => undefined)]);
      return {
        dialer,
        acceptor,
        lose() {
          for (const socket of sockets) socket.destroy();
        },
        async dispose() {
          await Promise.all([dialer.close(), server.close()]);
          await new Promise((resolve) => http.close(resolve));
        },
      };
    },
  };
}
