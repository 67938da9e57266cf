import type { SocketLike } from '../transport/transport.js';
import { W3cTransport } from '../transport/w3c.js';

/** A transport over a WebSocket that a server of a runtime has accepted. */
export class ServedTransport extends W3cTransport {
  override readonly opaque = false;

  /** @param selected the subprotocol of the handshake: workerd's socket does not know it */
  constructor(
    socket: SocketLike,
    private readonly selected: string,
  ) {
    super(socket);
  }

  override get protocol(): string {
    return this.selected;
  }

  // Unlike a page, a server may send each code.
  protected override closeCode(code: number): number {
    return code;
  }
}
