import type { SocketEvent } from './socket-like.js';

type EventType = 'open' | 'message' | 'error' | 'close';

/** The events of a socket that is none of the platform's. */
export abstract class SocketEvents {
  readonly #listeners: Readonly<Record<EventType, Set<(event: SocketEvent) => void>>> = {
    open: new Set(),
    message: new Set(),
    error: new Set(),
    close: new Set(),
  };

  addEventListener(type: EventType, listener: (event: SocketEvent) => void): void {
    this.#listeners[type].add(listener);
  }

  removeEventListener(type: EventType, listener: (event: SocketEvent) => void): void {
    this.#listeners[type].delete(listener);
  }

  protected dispatch(event: SocketEvent & { readonly type: EventType }): void {
    for (const listener of [...this.#listeners[event.type]]) listener(event);
  }
}
