import { CancelledError } from '../../wire/stream-errors.js';
import type { Reader } from './inbox.js';
import type { StreamCore } from './stream-core.js';

/** Calls `answered` with the first payload, or with `null` for an end without a payload. Cancels the stream on a second payload. */
export function readOne(stream: StreamCore, answered: (value: unknown) => void, failed: (error: unknown) => void): void {
  stream.readBy(new OneAnswer(stream, answered, failed));
}

class OneAnswer implements Reader {
  #answered = false;

  constructor(
    private readonly stream: StreamCore,
    private readonly answered: (value: unknown) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  next(value: unknown): void {
    if (this.#answered) {
      const text = 'one answer was expected';
      this.stream.cancel(text, new CancelledError(text, { streamId: this.stream.id }));
      return;
    }
    this.#answered = true;
    this.answered(value);
  }

  error(error: unknown): void {
    if (!this.#answered) this.failed(error);
  }

  complete(): void {
    if (!this.#answered) this.next(null);
  }
}
