import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How often a slow line carries its share, in ms. */
const TICK_MS = 20;
/** The most that a late tick catches up on, in ms. */
const LATE_MS = 500;
/** Bytes that the line's own process reads ahead: the rest waits in the kernel, as behind a real slow line. */
const READ_AHEAD_BYTES = 4 * 1024;

/** Where a server listens: a TCP port, or the path of a Unix socket. */
export type Address = { readonly port: number; readonly host: string } | { readonly path: string };

/** Fresh addresses without a listener. The kernel buffers megabytes for a TCP socket, and some 200 KiB for a Unix socket. */
export class Addresses {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rxmux-'));
  #count = 0;

  next(buffers: 'large' | 'small'): Address {
    return buffers === 'large' ? { port: 0, host: '127.0.0.1' } : { path: join(this.#folder, String(++this.#count)) };
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** A proxy that carries a limited number of bytes a second each way, separately for each connection. */
export class SlowLine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isFrozen = false;

  private constructor(
    target: Address,
    private readonly bytesPerSecond: number,
  ) {
    const options = { allowHalfOpen: true, highWaterMark: READ_AHEAD_BYTES };
    this.#server = createServer(options, (near) => {
      const far = connect({ ...target, ...options });
      this.#keep(near, far);
      this.#keep(far, near);
    });
  }

  static async listen(at: Address, target: Address, bytesPerSecond: number): Promise<SlowLine> {
    const line = new SlowLine(target, bytesPerSecond);
    line.#server.listen(at);
    await once(line.#server, 'listening');
    return line;
  }

  /** The TCP port; 0 for a Unix socket. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  /** Stops carrying bytes but keeps every connection, as if the remote had vanished. */
  freeze(): void {
    this.#isFrozen = true;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #keep(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('error', () => {
      to.destroy();
    });
    const stop = this.#carry(from, to);
    from.once('close', () => {
      stop();
      this.#sockets.delete(from);
    });
  }

  /** Carries bytes from one socket to the other. Returns a function that stops this. */
  #carry(from: Socket, to: Socket): () => void {
    let carriedAt = performance.now();
    let due = 0;
    // A socket reads ahead once it has a `readable` listener.
    from.on('readable', () => undefined);
    from.once('end', () => to.end());
    const timer = setInterval(() => {
      const now = performance.now();
      due = (Math.min(now - carriedAt, LATE_MS) * this.bytesPerSecond) / 1_000 + due;
      carriedAt = now;
      due = Math.min(due, (LATE_MS * this.bytesPerSecond) / 1_000);
      while (!this.#isFrozen && due >= 1) {
        const bytes = Math.min(Math.floor(due), from.readableLength);
        const chunk = bytes === 0 ? null : (from.read(bytes) as Buffer | null);
        if (chunk === null) break;
        due -= chunk.length;
        to.write(chunk);
      }
      if (!this.#isFrozen && from.readableLength === 0) from.read(0);
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }
}
