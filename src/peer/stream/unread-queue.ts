import { Fifo } from '../../wire/fifo.js';
import { weightOf } from '../../wire/held-bytes.js';
import type { StreamCore } from './stream-core.js';

/** A payload with its encoded bytes, and with its bytes of memory. */
interface Counted<T> {
  readonly value: T;
  readonly bytes: number;
  readonly weight: number;
}

/** Unread payloads, which their stream counts. */
export class UnreadQueue<T> extends Fifo<Counted<T>> {
  constructor(private readonly stream: StreamCore) {
    super();
  }

  /** Adds a payload, unless it exceeds a limit, which has reset the stream. */
  add(value: T, bytes: number): void {
    const { stream } = this;
    const weight = weightOf(stream.host.codec, value, bytes);
    if (stream.held.keep(bytes, weight)) this.push({ value, bytes, weight });
  }

  override shift(): Counted<T> | undefined {
    const unread = super.shift();
    if (unread !== undefined) this.stream.held.read(unread.bytes, unread.weight);
    return unread;
  }

  override clear(): void {
    while (this.shift() !== undefined);
  }
}
