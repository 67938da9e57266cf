import type { StreamLine } from '../../session/streams/stream-line.js';
import { Fifo } from '../../wire/fifo.js';

/** A payload with its encoded bytes, and with its bytes of memory. */
interface Counted<T> {
  readonly value: T;
  readonly bytes: number;
  readonly weight: number;
}

/** Unread payloads, which their stream counts. */
export class UnreadQueue<T> extends Fifo<Counted<T>> {
  constructor(private readonly stream: { readonly line: Pick<StreamLine, 'weigh' | 'keep' | 'read'> }) {
    super();
  }

  /** Adds a payload, unless it exceeds a limit, which has reset the stream. */
  add(value: T, bytes: number): void {
    const { line } = this.stream;
    const weight = line.weigh(value, bytes);
    if (line.keep(bytes, weight)) this.push({ value, bytes, weight });
  }

  override shift(): Counted<T> | undefined {
    const unread = super.shift();
    if (unread !== undefined) this.stream.line.read(unread.bytes, unread.weight);
    return unread;
  }

  override clear(): void {
    while (this.shift() !== undefined);
  }
}
