import type { Client, StreamAsk } from '../harness/adapter.js';

/** The tools of a task in the client's process. */
export interface TaskContext {
  readonly client: Client;
  /** Dials once more. */
  readonly connect: () => Promise<Client>;
}

/** Resolves when the stream has ended. Rejects with an error of `read`, which a library might only log. */
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
