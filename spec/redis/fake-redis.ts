import type { RedisClient } from '../../src/redis.js';

type Listener = (message: string) => void;

/** A server of channels, and of the replies that a test writes. */
export class FakeServer {
  readonly channels = new Map<string, Set<Listener>>();
  /** The replies to commands, by their first word. */
  readonly replies: Record<string, unknown> = {};
  readonly commands: string[][] = [];
  connections = 0;
  /** Rejects the next subscription. */
  refusal: Error | null = null;

  connect(): FakeClient {
    this.connections++;
    return new FakeClient(this);
  }
}

export class FakeClient implements RedisClient {
  isOpen = true;
  isReady = true;
  readonly #ends = new Set<(error: unknown) => void>();

  constructor(private readonly server: FakeServer) {}

  sendCommand(args: string[]): Promise<unknown> {
    const [name = '', channel = '', text = ''] = args;
    this.server.commands.push(args);
    if (name === 'PUBLISH') for (const listener of this.server.channels.get(channel) ?? []) listener(text);
    return Promise.resolve(this.server.replies[name]);
  }

  duplicate(): FakeClient {
    return this.server.connect();
  }

  connect(): Promise<unknown> {
    return Promise.resolve();
  }

  destroy(): void {
    this.isOpen = false;
    this.server.connections--;
    for (const end of this.#ends) end(null);
  }

  on(event: 'error' | 'end', listener: (error: unknown) => void): void {
    if (event === 'end') this.#ends.add(listener);
  }

  off(_event: 'end', listener: (error: unknown) => void): void {
    this.#ends.delete(listener);
  }

  subscribe(channel: string, listener: Listener): Promise<unknown> {
    const { refusal } = this.server;
    if (refusal !== null) return Promise.reject(refusal);
    this.server.channels.set(channel, (this.server.channels.get(channel) ?? new Set()).add(listener));
    return Promise.resolve();
  }

  unsubscribe(channel: string): Promise<unknown> {
    this.server.channels.delete(channel);
    return Promise.resolve();
  }
}
