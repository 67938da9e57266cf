import { CancelledError } from '../../wire/stream-errors.js';
import type { Reader } from './inbox.js';
import type { StreamCore } from './stream-core.js';

/** Gives the first payload, or `null` for an end without one; a second is answered with CANCEL. */
export function readOne(stream: StreamCore, answered: (value: unknown) => void, failed: (error: unknown) => void): void {
  stream.readBy(new OneAnswer(stream, answered, failed));
}

class OneAnswer implements Reader<unknown> {
  #answered = false;

  constructor(
    private readonly stream: StreamCore,
    private readonly answered: (value: unknown) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  next(value: unknown): void {
    if (this.#answered) {
      const text = 'one answer was expected';
      this.stream.cancel(text, new CancelledError(text, { streamId: this.stream.line.id }));
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
