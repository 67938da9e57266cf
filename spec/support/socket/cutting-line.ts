import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { portOf } from './handshake.js';
import { closing, listening } from './listening.js';

/** A proxy on loopback that a test cuts: by hand, or each connection after some bytes of its client. */
export class CuttingLine {
  /** Connections so far. */
  connections = 0;
  /** Cuts each connection once its client has sent this many bytes. */
  cutAfterBytes = Infinity;
  readonly #pairs = new Set<readonly [Socket, Socket]>();

  private constructor(
    private readonly server: Server,
    private readonly to: number,
  ) {
    server.on('connection', (client) => {
      this.#join(client);
    });
  }

  /** @param to the port that the line leads to, on 127.0.0.1 */
  static async open(to: number): Promise<CuttingLine> {
    return new CuttingLine(await listening(createServer()), to);
  }

  get url(): string {
    return `ws://127.0.0.1:${portOf(this.server)}`;
  }

  /** Destroys all connections. The next one passes again. */
  cut(): void {
    for (const ends of this.#pairs) for (const end of ends) end.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await closing(this.server);
  }

  #join(client: Socket): void {
    this.connections++;
    const ends = [client, connect(this.to, '127.0.0.1')] as const;
    this.#pairs.add(ends);
    let sent = 0;
    client.on('data', ({ length }) => {
      sent += length;
      if (sent >= this.cutAfterBytes) for (const end of ends) end.destroy();
    });
    for (const [from, to] of [ends, [ends[1], ends[0]] as const]) {
      from.pipe(to);
      // A cut connection is reset at its other end.
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#pairs.delete(ends);
        to.destroy();
      });
    }
  }
}
