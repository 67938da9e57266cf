import { connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** The request of a raw handshake. */
export interface Offer {
  readonly path?: string;
  readonly method?: string;
  /** Subprotocols, one header line each. Default `mux.v1.json`. */
  readonly protocols?: readonly string[];
  /** Further header lines. A line replaces the default of the same name, and `null` removes it. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** The server's answer. */
export interface Answer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly socket: Socket;
}

const DEFAULTS = {
  Host: 'example.org',
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version': '13',
};

/** The bytes of a handshake. */
export function requestOf({ path = '/', method = 'GET', protocols = ['mux.v1.json'], headers = {} }: Offer = {}): string {
  const lines = [
    ...Object.entries({ ...DEFAULTS, ...headers }).filter(([, value]) => value !== null),
    ...protocols.map((protocol) => ['Sec-WebSocket-Protocol', protocol]),
  ];
  return [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${String(name)}: ${String(value)}`), '', ''].join('\r\n');
}

/** A TCP connection to a server on 127.0.0.1, which stays half open when the server ends it. */
export function rawSocket(server: Server | { address(): AddressInfo | string | null }): Promise<Socket> {
  const socket = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      resolve(socket);
    });
  });
}

/** Sends a handshake and returns the answer. After a refusal it destroys the socket. */
export async function handshake(server: Parameters<typeof rawSocket>[0], offer?: Offer): Promise<Answer> {
  const socket = await rawSocket(server);
  socket.write(requestOf(offer));
  const answer = await answerOn(socket);
  if (answer.status !== 101) socket.destroy();
  return answer;
}

/** Reads an answer. After a 101 the socket stays open; after any other status the server must end it. */
export async function answerOn(socket: Socket): Promise<Answer> {
  let text = '';
  const isWhole = (): boolean => text.includes('\r\n\r\n') && text.startsWith('HTTP/1.1 101');
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (isWhole()) resolve();
    });
    socket.on('end', resolve);
    socket.on('close', resolve);
  });
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [status = '', ...lines] = head.split('\r\n');
  return {
    status: Number(status.split(' ')[1]),
    headers: Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    ),
    body,
    socket,
  };
}

export function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port;
}
