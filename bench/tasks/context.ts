import type { Client, StreamAsk } from '../harness/adapter.js';

/** What a task of the client's process works with. */
export interface TaskContext {
  readonly client: Client;
  /** Dials once more. */
  readonly connect: () => Promise<Client>;
}

/** Resolves when the stream has ended; rejects with what reading an item has thrown, which a library may only log. */
export function readStream(client: Client, ask: StreamAsk, read: (item: unknown) => void): Promise<void> {
  return new Promise((complete, error) => {
    const next = (item: unknown): void => {
      try {
        read(item);
      } catch (failure) {
        error(failure);
      }
    };
    client.stream(ask, { next, error, complete });
  });
}
