import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** How much a router on the line keeps ahead of it, in ms of the line. */
const ROUTER_MS = 50;
const TICK_MS = 1;

/** A chunk on its way. */
interface OnTheWay {
  readonly arrivesAt: number;
  readonly chunk: Buffer;
}

/** A proxy on loopback that carries a limited number of bytes each way, and delays each of them: a line to another continent. */
export class LongLine {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(
    target: number,
    private readonly bytesPerMs: number,
    private readonly rttMs: number,
  ) {
    this.#server = createServer({ noDelay: true }, (near) => {
      const far = connect({ port: target, host: '127.0.0.1', noDelay: true });
      this.#carry(near, far);
      this.#carry(far, near);
    });
  }

  static async listen(target: number, bytesPerMs: number, rttMs: number): Promise<LongLine> {
    const line = new LongLine(target, bytesPerMs, rttMs);
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #carry(from: Socket, to: Socket): void {
    const onTheWay: OnTheWay[] = [];
    let freeAt = 0;
    this.#sockets.add(from);
    from.on('data', (chunk: Buffer) => {
      const now = performance.now();
      freeAt = Math.max(now, freeAt);
      // A whole chunk would hold up its first bytes until its last ones have arrived.
      for (let at = 0; at < chunk.length; at += this.bytesPerMs) {
        const piece = chunk.subarray(at, at + this.bytesPerMs);
        freeAt += piece.length / this.bytesPerMs;
        onTheWay.push({ arrivesAt: freeAt + this.rttMs / 2, chunk: piece });
      }
      if (freeAt - now > ROUTER_MS) from.pause();
    });
    const timer = setInterval(() => {
      const now = performance.now();
      const arrived = onTheWay.findIndex(({ arrivesAt }) => arrivesAt > now);
      for (const { chunk } of onTheWay.splice(0, arrived === -1 ? onTheWay.length : arrived)) to.write(chunk);
      if (freeAt - now <= ROUTER_MS) from.resume();
    }, TICK_MS);
    from.on('error', () => undefined);
    from.once('close', () => {
      clearInterval(timer);
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
