import { Subscription } from 'rxjs';
import type { SocketLike } from '../transport/transport.js';
import { W3cTransport } from '../transport/w3c.js';

/** A transport over a WebSocket that a server of a runtime has accepted. */
export class ServedTransport extends W3cTransport {
  override readonly opaque = false;
  /** Closed once the runtime has reported the end of the socket. */
  readonly #held = new Subscription();

  /** @param selected the subprotocol of the handshake: workerd's socket does not know it */
  constructor(
    socket: SocketLike,
    private readonly selected: string,
  ) {
    super(socket);
    // Deno reports no close of a socket that has never opened.
    for (const type of ['close', 'error'] as const)
      socket.addEventListener(type, () => {
        this.#held.unsubscribe();
      });
  }

  override get protocol(): string {
    return this.selected;
  }

  // Neither Deno nor workerd can end a connection whose remote does not answer the close.
  whenReleased(task: () => void): void {
    this.#held.add(task);
  }

  // Unlike a page, a server may send each code.
  protected override closeCode(code: number): number {
    return code;
  }
}
