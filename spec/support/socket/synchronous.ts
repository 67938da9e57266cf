import { ReadyState } from '../../../src/transport/transport.js';
import type { SocketEvent, SocketLike } from '../../../src/transport/transport.js';

type Listener = (event: SocketEvent) => void;

/** One end of a line that delivers within the call: a message within `send`, the close within `close`. */
class SynchronousSocket implements SocketLike {
  readyState: number = ReadyState.OPEN;
  binaryType = 'arraybuffer';
  other: SynchronousSocket | null = null;
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(readonly protocol: string) {}

  send(data: string | ArrayBuffer): void {
    this.other?.tell({ type: 'message', data });
  }

  close(code = 1000, reason = ''): void {
    for (const end of [this.other, this]) end?.closed(code, reason);
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener);
  }

  tell(event: SocketEvent): void {
    for (const listener of [...(this.#listeners.get(event.type) ?? [])]) listener(event);
  }

  closed(code: number, reason: string): void {
    if (this.readyState === ReadyState.CLOSED) return;
    this.readyState = ReadyState.CLOSED;
    this.tell({ type: 'close', code, reason, wasClean: true });
  }
}

/** The two ends of a line that delivers within the call. */
export function synchronousSockets(protocol: string): { readonly dialer: SocketLike; readonly acceptor: SocketLike } {
  const [dialer, acceptor] = [new SynchronousSocket(protocol), new SynchronousSocket(protocol)];
  [dialer.other, acceptor.other] = [acceptor, dialer];
  return { dialer, acceptor };
}
