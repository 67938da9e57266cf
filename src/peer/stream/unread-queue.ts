import type { StreamLine } from '../../session/streams/stream-line.js';
import { Fifo } from '../../wire/fifo.js';

/** A payload, the bytes it came as, and those that it takes in memory. */
interface Counted<T> {
  readonly value: T;
  readonly bytes: number;
  readonly weight: number;
}

/** Payloads that wait to be read, counted by the stream that they came on. */
export class UnreadQueue<T> extends Fifo<Counted<T>> {
  constructor(private readonly stream: { readonly line: Pick<StreamLine, 'weigh' | 'keep' | 'read'> }) {
    super();
  }

  /** Unless it is too much, and the stream has been reset. */
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
