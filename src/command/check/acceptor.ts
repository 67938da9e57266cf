import { WebSocket } from 'ws';
import { networkText } from '../output.js';
import { Mismatch } from './mismatch.js';
import type { Run } from './steps.js';
import type { ServerAddress, Target } from './target.js';
import { Wire } from './wire.js';

/** A server that is checked. Each run dials a connection of its own. */
export class AcceptorTarget implements Target {
  #socket: WebSocket | null = null;

  constructor(readonly server: ServerAddress) {}

  connect({ codec, withinMs }: Run): Promise<Wire> {
    const { url, headers } = this.server;
    const options = { headers, perMessageDeflate: false, maxPayload: 0, handshakeTimeout: withinMs };
    const socket = (this.#socket = new WebSocket(url, `mux.v1.${codec.name}`, options));
    const wire = new Wire(socket, codec, 0);
    return new Promise((resolve, reject) => {
      socket.on('open', () => {
        resolve(wire);
      });
      socket.on('error', (error) => {
        reject(new Mismatch('an open socket', networkText(error)));
      });
    });
  }

  dispose(): void {
    this.#socket?.terminate();
  }
}
