import type { SocketEvent, SocketLike } from '../../../src/index.js';

type EventType = 'open' | 'message' | 'error' | 'close';

/** In the order of their numbers. */
const STATES = ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'] as const;
type State = (typeof STATES)[number];

/** A W3C-shaped socket controlled by a test. It does nothing by itself, and records each call. */
export class FakeSocket implements SocketLike {
  readyState: number;
  protocol = 'mux.v1.json';
  bufferedAmount = 0;
  binaryType = 'blob';
  readonly sent: (string | ArrayBuffer)[] = [];
  readonly closes: [code: number | undefined, reason: string | undefined][] = [];
  readonly #listeners = new Map<EventType, Set<(event: SocketEvent) => void>>();

  constructor(state: State = 'OPEN') {
    this.readyState = STATES.indexOf(state);
  }

  send(data: string | ArrayBuffer): void {
    this.sent.push(data);
  }

  close(code?: number, reason?: string): void {
    this.closes.push([code, reason]);
    this.readyState = Math.max(this.readyState, STATES.indexOf('CLOSING'));
  }

  addEventListener(type: EventType, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: EventType, listener: (event: SocketEvent) => void): void {
    this.#listeners.get(type)?.delete(listener);
  }

  /** The number of listeners for each kind of event. */
  get listening(): Partial<Record<EventType, number>> {
    return Object.fromEntries([...this.#listeners].filter(([, { size }]) => size > 0).map(([type, { size }]) => [type, size]));
  }

  /** Moves the socket to `state`, then emits the event. */
  emit(type: EventType, event: Omit<SocketEvent, 'type'> = {}, state?: State): void {
    if (state !== undefined) this.readyState = STATES.indexOf(state);
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener({ ...event, type });
  }
}
