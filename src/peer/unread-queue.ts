import type { StreamLine } from '../session/stream-line.js';
import { Fifo } from '../wire/fifo.js';

/** A payload, and the bytes it counts for. */
interface Counted<T> {
  readonly value: T;
  readonly bytes: number;
}

/** Payloads that wait to be read, counted by the stream that they came on. */
export class UnreadQueue<T> extends Fifo<Counted<T>> {
  constructor(private readonly stream: { readonly line: Pick<StreamLine, 'keep' | 'read'> }) {
    super();
  }

  /** Unless it is too much, and the stream has been reset. */
  override push(unread: Counted<T>): void {
    if (this.stream.line.keep(unread.bytes)) super.push(unread);
  }

  override shift(): Counted<T> | undefined {
    const unread = super.shift();
    if (unread !== undefined) this.stream.line.read(unread.bytes);
    return unread;
  }

  override clear(): void {
    while (this.shift() !== undefined);
  }
}
