import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Faults of a connection. */
export type Fault = 'reset' | 'half-open' | 'stall' | 'dribble' | 'delay';

const PIECE_BYTES = 8 * 1024;
const DRIBBLE_BYTES = 256;
const DRIBBLE_MS = 2;
const DELAY_MS = 40;

/** One connection through the proxy. */
export class Link {
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #ended = new AbortController();
  #gate: Promise<unknown> = Promise.resolve();
  #fault: Fault | null = null;

  /** @param perSecond bytes that reach the client, at most */
  constructor(near: Socket, far: Socket, perSecond: number) {
    this.#near = near;
    this.#far = far;
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        // One side of a half-open connection never learns that the other has closed.
        if (this.#fault !== 'half-open') this.#end();
      });
    }
    void this.#carry(near, far, Infinity);
    void this.#carry(far, near, perSecond);
  }

  get open(): boolean {
    return !this.#near.destroyed && !this.#far.destroyed;
  }

  /** Causes a fault. A lasting one ends after `ms`. */
  async suffer(fault: Fault, ms: number): Promise<void> {
    this.#fault = fault;
    if (fault === 'reset') {
      this.#near.resetAndDestroy();
      this.#far.resetAndDestroy();
      return;
    }
    const over = pause(ms, undefined, { signal: this.#ended.signal }).catch(() => undefined);
    if (fault === 'stall' || fault === 'half-open') this.#gate = over;
    await over;
    if (fault === 'half-open') this.#end();
    this.#fault = null;
  }

  #end(): void {
    this.#ended.abort();
    this.#near.destroy();
    this.#far.destroy();
  }

  async #carry(from: Socket, to: Socket, perSecond: number): Promise<void> {
    const { signal } = this.#ended;
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (let at = 0; at < chunk.length;) {
          await this.#gate;
          const bytes = this.#fault === 'dribble' ? DRIBBLE_BYTES : perSecond === Infinity ? chunk.length : PIECE_BYTES;
          const piece = chunk.subarray(at, at + bytes);
          at += piece.length;
          if (this.#fault === 'dribble') await pause(DRIBBLE_MS, undefined, { signal });
          if (this.#fault === 'delay') await pause(DELAY_MS, undefined, { signal });
          if (perSecond !== Infinity) await pause((piece.length / perSecond) * 1_000, undefined, { signal });
          if (!to.write(piece)) await once(to, 'drain', { signal });
        }
      }
      to.end();
    } catch {
      // A broken socket has already emitted 'close'.
    }
  }
}

/** A TCP proxy on loopback, for the connections to one port. */
export class Proxy {
  readonly #links = new Set<Link>();
  readonly #server: Server;

  private constructor(target: number, perSecond: (nth: number) => number) {
    let nth = 0;
    this.#server = createServer({ allowHalfOpen: false }, (near) => {
      const link = new Link(near, connect(target, '127.0.0.1'), perSecond(nth++));
      this.#links.add(link);
      near.once('close', () => this.#links.delete(link));
    });
  }

  /** @param perSecond bytes that reach the client of the nth connection, at most */
  static async listen(target: number, perSecond: (nth: number) => number = () => Infinity): Promise<Proxy> {
    const proxy = new Proxy(target, perSecond);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get links(): readonly Link[] {
    return [...this.#links].filter((link) => link.open);
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const link of this.links) await link.suffer('reset', 0);
  }
}
