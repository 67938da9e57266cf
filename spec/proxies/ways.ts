import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { ClientRequestArgs, IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NodeConnectOptions } from '../../src/node.js';
import type { Balancer } from './balancer.js';
import type { Way } from './products.js';

/** How a client dials through a product. */
export interface Dialing {
  readonly url: string;
  readonly options: NodeConnectOptions;
  end(): void;
}

/** @param server the port of the server, which a client of a forward proxy dials itself */
export async function dialing(way: Way, { port, ca }: Balancer, server: number): Promise<Dialing> {
  const end = (): void => undefined;
  if (way === 'connect') return { url: `ws://127.0.0.1:${server}`, options: { agent: new ConnectAgent(port) }, end };
  if (way === 'tls') return { url: `wss://127.0.0.1:${port}`, options: { tls: { ca } }, end };
  return way === 'http' ? { url: `ws://127.0.0.1:${port}`, options: {}, end } : http2Dialing(port);
}

/** Makes TCP connections by CONNECT through a forward proxy. */
class ConnectAgent extends Agent {
  constructor(private readonly proxy: number) {
    super();
  }

  override createConnection({ host, port }: ClientRequestArgs, created: (error: Error | null, stream: Duplex) => void): null {
    const asked = request({ port: this.proxy, host: '127.0.0.1', method: 'CONNECT', path: `${host}:${port}`, agent: false });
    asked.once('connect', (_response, socket: Duplex) => {
      created(null, socket);
    });
    asked.once('error', (error) => {
      created(error, asked.socket as Socket);
    });
    asked.end();
    return null;
  }
}

/** Marks the end of a handshake's key, by RFC 6455. */
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** `ws` speaks no HTTP/2, so this bridge turns its handshake into an extended CONNECT (RFC 8441), and joins the streams. */
async function http2Dialing(port: number): Promise<Dialing> {
  const bridge = createServer();
  bridge.on('upgrade', (handshake: IncomingMessage, socket: Duplex) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.on('error', () => socket.destroy());
    session.once('remoteSettings', () => {
      join(handshake, socket, session);
    });
  });
  bridge.listen(0, '127.0.0.1');
  await once(bridge, 'listening');
  return {
    url: `ws://127.0.0.1:${(bridge.address() as AddressInfo).port}`,
    options: {},
    end: () => {
      bridge.close();
      bridge.closeAllConnections();
    },
  };
}

/** Makes the extended CONNECT of a handshake, and answers the handshake by its outcome. */
function join({ headers, url = '/' }: IncomingMessage, socket: Duplex, session: ClientHttp2Session): void {
  const { host = '', 'sec-websocket-key': key = '', ...rest } = headers;
  delete rest.connection;
  delete rest.upgrade;
  const stream = session.request(
    { ...rest, ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': url, ':authority': host },
    { endStream: false },
  );
  stream.on('error', () => socket.destroy());
  stream.once('close', () => {
    socket.destroy();
    session.close();
  });
  socket.on('error', () => stream.destroy());
  socket.once('close', () => stream.destroy());
  stream.once('response', ({ ':status': status = 0, ...answer }: IncomingHttpHeaders & { ':status'?: number }) => {
    const accept = createHash('sha1')
      .update(key + KEY_SUFFIX)
      .digest('base64');
    const [first, lines] =
      status === 200
        ? ['HTTP/1.1 101 Switching Protocols', { Connection: 'Upgrade', Upgrade: 'websocket', ...answer, 'sec-websocket-accept': accept }]
        : [`HTTP/1.1 ${status} x`, { ...answer, connection: 'close' }];
    socket.write(`${[first, ...Object.entries(lines).map(([name, value]) => `${name}: ${String(value)}`)].join('\r\n')}\r\n\r\n`);
    stream.pipe(socket);
    if (status === 200) socket.pipe(stream);
  });
}
