import type { Service, StreamAsk } from './adapter.js';
import { small, text } from './payloads.js';

/** The one service that every adapter serves, and a count of the streams that it keeps open. */
export class BenchService implements Service {
  /** Streams opened that stay open. */
  idle = 0;
  readonly #texts = new Map<number, string>();

  /** Text is answered with its length, `{ text }` with a text of that many bytes, everything else with itself. */
  answer(payload: unknown): unknown {
    if (typeof payload === 'string') return payload.length;
    if (typeof payload === 'object' && payload !== null && 'text' in payload) return this.#text(Number(payload.text));
    return payload;
  }

  items({ items, bytes }: StreamAsk): Iterable<unknown> | null {
    if (items > 0) return bytes === undefined ? smallItems(items) : textItems(items, this.#text(bytes));
    this.idle++;
    return null;
  }

  /** Made once, so that making it is no part of any measurement. */
  #text(bytes: number): string {
    const made = this.#texts.get(bytes) ?? text(bytes);
    this.#texts.set(bytes, made);
    return made;
  }
}

function* smallItems(items: number): Iterable<unknown> {
  for (let n = 0; n < items; n++) yield small(n);
}

function* textItems(items: number, item: string): Iterable<unknown> {
  for (let n = 0; n < items; n++) yield item;
}
