import type { Share } from '../session/base/share.js';
import type { Ledger } from './totals.js';

/** One connection's share of the total limits. */
export class Member implements Share {
  #held = 0;
  #streams = 0;
  #unsent = 0;
  #hasLeft = false;
  #room: () => void = () => undefined;
  #waits = false;

  /** @param measure returns the bytes that the connection has to send, in its socket too */
  constructor(
    private readonly ledger: Ledger,
    private readonly measure: () => number,
  ) {}

  get waits(): boolean {
    return this.#waits;
  }

  get holdsMuch(): boolean {
    return this.ledger.held.mustWait(this.#held);
  }

  hold(bytes: number): boolean {
    const { held } = this.ledger;
    if (!held.admits(this.#held, bytes)) return false;
    held.used += bytes;
    this.#held += bytes;
    return true;
  }

  holdRefusal(): string {
    return `this connection holds its part of ${this.ledger.held.max} bytes (maxTotalHeldBytes)`;
  }

  // A reader may come to a payload after the end of its connection.
  unhold(bytes: number): void {
    this.ledger.held.used -= bytes;
    this.#held -= bytes;
  }

  streamRefusal(): string | null {
    const { streams, held, unsent } = this.ledger;
    if (!streams.admits(this.#streams, 1)) return `more than ${streams.max} streams on all connections (maxTotalStreams)`;
    if (held.isRefused(this.#held)) return this.holdRefusal();
    if (unsent.isRefused(this.#unsent)) return `this connection has its part of ${unsent.max} bytes to send (maxTotalUnsentBytes)`;
    return null;
  }

  streamTaken(): void {
    this.ledger.streams.used++;
    this.#streams++;
  }

  // A handler that never settles holds a place as long as its connection lasts.
  streamReleased(): void {
    if (this.#hasLeft) return;
    this.ledger.streams.used--;
    this.#streams--;
  }

  queued(bytes: number): void {
    this.#unsent += bytes;
    this.ledger.queued(bytes);
  }

  mustWait(): boolean {
    this.#waits = this.#sendsMuch();
    if (this.#waits) this.ledger.watch();
    return this.#waits;
  }

  overflowsWith(bytes: number): boolean {
    const { unsent } = this.ledger;
    if (!unsent.isUsed) return false;
    this.ledger.measure();
    return unsent.isUsed && !unsent.admits(this.#unsent, bytes);
  }

  onRoom(task: () => void): void {
    this.#room = task;
  }

  /** Updates the count of unsent bytes: the socket may have sent some since the last look. */
  remeasure(): void {
    const now = this.measure();
    this.ledger.unsent.used += now - this.#unsent;
    this.#unsent = now;
  }

  /** Goes on if there is room again. */
  checkRoom(): void {
    if (!this.#waits || this.ledger.unsent.mustWait(this.#unsent)) return;
    this.#waits = false;
    this.#room();
  }

  /** The connection has ended. */
  leave(): void {
    this.#hasLeft = true;
    this.#waits = false;
    this.ledger.streams.used -= this.#streams;
    this.ledger.unsent.used -= this.#unsent;
    this.#streams = this.#unsent = 0;
  }

  #sendsMuch(): boolean {
    const { unsent } = this.ledger;
    if (!unsent.mustWait(this.#unsent)) return false;
    this.ledger.measure();
    return unsent.mustWait(this.#unsent);
  }
}
