import type { RedisClient } from '../../src/redis.js';
import { turn } from '../support/socket/leaks.js';

/** A name as the server gets it: in UTF-8. */
const asSent = (name: string): string => Buffer.from(name).toString();

type Listener = (message: string) => void;
type Event = 'error' | 'end' | 'connect';

/** A server of channels, and of the replies that a test writes. It answers a turn later, as a real one does. */
export class FakeServer {
  /** The connections that the server holds. */
  readonly connections = new Set<FakeClient>();
  /** The replies to commands, by their first word. */
  readonly replies: Record<string, unknown> = {};
  readonly commands: string[][] = [];
  /** Rejects subscriptions. */
  refusal: Error | null = null;
  /** Rejects new connections. */
  full: Error | null = null;

  /** The channels that a connection listens to. */
  get channels(): readonly string[] {
    return [...this.connections].flatMap((client) => [...client.heard]);
  }

  /** Returns a client that is connected. */
  connect(): FakeClient {
    const client = new FakeClient(this);
    client.accept();
    return client;
  }
}

/** A client of the package `redis`: a `destroy` before the socket is there does not stop the socket, and the second one throws. */
export class FakeClient implements RedisClient {
  isOpen = false;
  isReady = false;
  /** The channels of this connection, as the server knows them. */
  readonly heard = new Set<string>();
  readonly #listeners = new Map<string, { readonly all: Set<Listener>; isLeaving: boolean }>();
  readonly #events = new Map<Event, Set<(error: unknown) => void>>();

  constructor(private readonly server: FakeServer) {}

  async sendCommand(args: string[]): Promise<unknown> {
    const [name = '', channel = '', text = ''] = args;
    await turn();
    this.server.commands.push(args);
    if (name === 'PUBLISH') for (const { hear } of [...this.server.connections]) hear(asSent(channel), text);
    return this.server.replies[name];
  }

  duplicate(): FakeClient {
    return new FakeClient(this.server);
  }

  async connect(): Promise<unknown> {
    this.isOpen = true;
    do {
      await turn();
      const { full } = this.server;
      if (full === null) this.accept();
      else this.#emit('error', full);
    } while (this.isOpen && !this.isReady);
    return this;
  }

  accept(): void {
    this.isOpen = true;
    this.isReady = true;
    this.server.connections.add(this);
    this.#emit('connect');
  }

  destroy(): void {
    if (!this.isOpen) throw new Error('The client is closed');
    this.isOpen = false;
    this.isReady = false;
    this.server.connections.delete(this);
    this.#emit('end');
  }

  /** Loses the connection, and connects again. */
  cut(): void {
    this.isReady = false;
    this.server.connections.delete(this);
    this.#emit('error', new Error('Socket closed unexpectedly'));
    if (this.isOpen) void this.connect();
  }

  on(event: Event, listener: (error: unknown) => void): void {
    this.#events.set(event, (this.#events.get(event) ?? new Set()).add(listener));
  }

  off(event: Event, listener: (error: unknown) => void): void {
    this.#events.get(event)?.delete(listener);
  }

  async subscribe(channel: string, listener: Listener): Promise<unknown> {
    const known = this.#listeners.get(channel);
    if (known !== undefined && !known.isLeaving) return known.all.add(listener);
    await turn();
    const { refusal } = this.server;
    if (refusal !== null) throw refusal;
    this.heard.add(asSent(channel));
    const { all } = this.#listeners.get(channel) ?? { all: new Set() };
    return this.#listeners.set(channel, { all: all.add(listener), isLeaving: false });
  }

  async unsubscribe(channel: string, listener?: Listener): Promise<unknown> {
    const known = this.#listeners.get(channel);
    if (known !== undefined && listener !== undefined) {
      if (known.all.size > (known.all.has(listener) ? 1 : 0)) return known.all.delete(listener);
      known.isLeaving = true;
    }
    await turn();
    this.heard.delete(asSent(channel));
    return this.#listeners.delete(channel);
  }

  readonly hear = (channel: string, text: string): void => {
    if (this.heard.has(channel)) for (const listener of [...(this.#listeners.get(channel)?.all ?? [])]) listener(text);
  };

  #emit(event: Event, error: unknown = null): void {
    for (const listener of [...(this.#events.get(event) ?? [])]) listener(error);
  }
}
