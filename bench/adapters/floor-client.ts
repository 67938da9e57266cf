import type { Client, Headers, Sink, StreamAsk } from '../harness/adapter.js';

/** A message of the floors. */
export interface FloorMessage {
  readonly id: number;
  readonly payload?: unknown;
  readonly headers?: Headers;
  /** Asks for a stream. */
  readonly items?: StreamAsk;
  readonly end?: true;
  /** Ends a stream that its client no longer wants. The floors never send it. */
  readonly stop?: true;
}

/** The id of the feed, on every connection. */
export const FEED = 0;

/** The client of the floors: Maps of waiting callers, and nothing else. */
export class FloorClient implements Client {
  readonly #calls = new Map<number, (payload: unknown) => void>();
  readonly #streams = new Map<number, Sink>();
  #last = 0;

  constructor(
    private readonly send: (message: FloorMessage) => void,
    readonly close: () => void,
  ) {}

  request(payload: unknown, headers?: Headers): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#calls.set(id, resolve);
      this.send(headers === undefined ? { id, payload } : { id, payload, headers });
    });
  }

  stream(items: StreamAsk, sink: Sink): void {
    // One id for all subscribers, so that the server encodes a value of the feed once.
    const id = items.feed === true ? FEED : ++this.#last;
    this.#streams.set(id, sink);
    this.send({ id, items });
  }

  receive({ id, payload, end }: FloorMessage): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) {
      if (end !== true) stream.next(payload);
      else {
        this.#streams.delete(id);
        stream.complete();
      }
      return;
    }
    const resolve = this.#calls.get(id);
    this.#calls.delete(id);
    resolve?.(payload);
  }
}
