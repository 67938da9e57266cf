import type { Service, StreamAsk } from './adapter.js';
import { objects, small, text } from './payloads.js';
import type { Small } from './payloads.js';

/** The service that every adapter serves, and a count of the streams that it keeps open. */
export class BenchService implements Service {
  /** How many streams were opened that stay open. */
  idle = 0;
  readonly #texts = new Map<number, string>();
  readonly #objects = new Map<number, Small[]>();
  readonly #feeds = new Set<(value: unknown) => void>();

  /**
   * Answers text with its length, and `{ text }` with a text of that many bytes. Answers `{ publish, bytes }` once it has published a value
   * of that many bytes. Answers every other payload with itself.
   */
  answer(payload: unknown): unknown {
    if (typeof payload === 'string') return payload.length;
    if (typeof payload === 'object' && payload !== null && 'text' in payload) return this.#text(Number(payload.text));
    if (typeof payload === 'object' && payload !== null && 'publish' in payload && 'bytes' in payload) {
      const value = { n: payload.publish, items: this.#objectsOf(Number(payload.bytes)) };
      for (const publish of this.#feeds) publish(value);
    }
    return payload;
  }

  onFeed(publish: (value: unknown) => void): () => void {
    this.#feeds.add(publish);
    return () => this.#feeds.delete(publish);
  }

  items({ items, bytes }: StreamAsk): Iterable<unknown> | null {
    if (items > 0) return bytes === undefined ? smallItems(items) : textItems(items, this.#text(bytes));
    this.idle++;
    return null;
  }

  #objectsOf(bytes: number): Small[] {
    const made = this.#objects.get(bytes) ?? objects(bytes);
    this.#objects.set(bytes, made);
    return made;
  }

  /** Makes each text once, so that no measurement includes the making. */
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
