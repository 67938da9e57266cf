import { asyncScheduler } from 'rxjs';
import { soon } from '../rx/soon.js';
import { CloseCode } from '../wire/codes.js';
import type { Message } from '../wire/codec.js';
import type { MemoryTransport } from './memory-transport.js';
import { SocketEvents } from '../transport/transport.js';
import { ReadyState } from '../transport/transport.js';
import type { SocketWithTurns } from '../transport/transport.js';
import { abnormalClose } from '../transport/transport.js';
import type { SocketClose } from '../transport/transport.js';

/** The status of a dial that no server answers. */
const NO_SERVER = 0;

/** The dialing end of a memory link, with the interface of a platform's WebSocket. It opens, or is refused, one turn later. */
export class MemorySocket extends SocketEvents implements SocketWithTurns {
  binaryType = 'arraybuffer';
  #readyState: number = ReadyState.CONNECTING;

  /** @param refusal the HTTP status that refuses the handshake, or 0 for a missing server; `null` opens */
  constructor(
    private readonly end: MemoryTransport,
    private readonly refusal: number | null,
  ) {
    super();
    soon(() => {
      if (this.#readyState !== ReadyState.CONNECTING) return;
      if (refusal === null) this.#open();
      else this.#close(abnormalClose());
    });
  }

  get readyState(): number {
    // A listener of `open` may have cut the end before this class listens to it.
    return this.#readyState === ReadyState.OPEN && !this.end.writable ? ReadyState.CLOSING : this.#readyState;
  }

  get protocol(): string {
    return this.#readyState === ReadyState.CONNECTING ? '' : this.end.protocol;
  }

  get bufferedAmount(): number {
    return this.end.bufferedAmount;
  }

  get refusedStatus(): number | null {
    return this.#readyState === ReadyState.CONNECTING || this.refusal === NO_SERVER ? null : this.refusal;
  }

  /** A server in memory refuses as an acceptor does: with 400 for an offer that it does not take. */
  get answeredProtocol(): string | null {
    return this.refusedStatus === 400 ? '' : null;
  }

  send(data: Message): void {
    if (this.#readyState === ReadyState.OPEN) this.end.send(data);
  }

  close(code: number = CloseCode.CLEAN, reason = ''): void {
    if (this.#readyState === ReadyState.CONNECTING) {
      this.terminate();
      return;
    }
    if (this.#readyState !== ReadyState.OPEN) return;
    this.#readyState = ReadyState.CLOSING;
    this.end.close(code, reason);
  }

  terminate(): void {
    if (this.#readyState === ReadyState.CLOSED) return;
    this.end.terminate();
    this.#close(abnormalClose());
  }

  turn(task: () => void): void {
    asyncScheduler.schedule(task);
  }

  #open(): void {
    this.#readyState = ReadyState.OPEN;
    this.dispatch({ type: 'open' });
    this.end.messages$.subscribe({
      next: (data) => {
        this.dispatch({ type: 'message', data });
      },
      complete: () => {
        if (this.end.closed !== null) this.#close(this.end.closed);
      },
    });
  }

  #close(close: SocketClose): void {
    if (this.#readyState === ReadyState.CLOSED) return;
    this.#readyState = ReadyState.CLOSED;
    if (!close.wasClean) this.dispatch({ type: 'error' });
    this.dispatch({ type: 'close', ...close });
  }
}
