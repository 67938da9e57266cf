import { Fifo } from '../util/collections.js';

/** Emits values one after another. A receiver of one value may send the next: it leaves once all have received the first. */
export class InOrder<T> {
  readonly #unsent = new Fifo<T>();
  #isSending = false;

  constructor(private readonly emit: (value: T) => void) {}

  send(value: T): void {
    this.#unsent.push(value);
    if (!this.#isSending) this.#sendAll();
  }

  #sendAll(): void {
    this.#isSending = true;
    for (let value = this.#unsent.shift(); value !== undefined; value = this.#unsent.shift()) this.emit(value);
    this.#isSending = false;
  }
}
