import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const MAX_PORT = 65_535;

/** A server that listens. */
export interface Listening {
  readonly server: Server;
  /** Its address, without a scheme, such as `127.0.0.1:8080`. */
  readonly address: string;
}

/**
 * Listens for HTTP and its upgrades.
 *
 * @throws Error of the system if it cannot listen there
 */
export async function listen(host: string, port: number, answer: RequestListener = expectUpgrade): Promise<Listening> {
  const server = createServer(answer);
  await once(server.listen(port, host), 'listening');
  return { server, address: `${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}` };
}

/**
 * Whether a request on a loopback address asks for a loopback host. A page of another host whose name was rebound to this machine does not:
 * its browser sends that name.
 */
export function isForThisMachine({ headers: { host = '' }, socket: { localAddress = '' } }: IncomingMessage): boolean {
  return (
    !isLoopback(localAddress.replace(/^::ffff:/, '')) || (URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname))
  );
}

function isLoopback(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[?::1\]?|(.+\.)?localhost\.?)$/.test(host);
}

const expectUpgrade: RequestListener = (_, response) => {
  response.writeHead(426, { 'content-type': 'text/plain', upgrade: 'websocket' }).end('expected a WebSocket upgrade\n');
};
