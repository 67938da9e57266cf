import { Observable, Subject } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { CursorLost } from '../../src/topics.js';
import type { Log, Message } from '../../src/topics.js';

/** A broker whose every move a test decides: its cursors are the numbers from 1 on. */
export class ScriptedBroker implements Log<string, number> {
  readonly #live$ = new Subject<Message<string, number>>();
  readonly live$ = this.#live$.asObservable();
  /** The first message that the broker keeps, and the last one. */
  first = 1;
  last = 0;
  /** The last message that `live$` has emitted. */
  sent = 0;
  #reads: Read[] = [];

  get listeners(): number {
    return this.#live$.observed ? 1 : 0;
  }

  /** Whether a history is being read. */
  get isRead(): boolean {
    return this.#reads.length > 0;
  }

  head(): readonly number[] {
    return [this.last];
  }

  history(after: number | null): Observable<Message<string, number>> {
    if (after !== null && (after + 1 < this.first || after > this.last)) throw new CursorLost(this.last);
    return new Observable((subscriber) => {
      const read = { next: after === null ? null : after + 1, subscriber };
      this.#reads.push(read);
      subscriber.add(() => {
        this.#reads = this.#reads.filter((other) => other !== read);
      });
    });
  }

  publish(): Promise<number> {
    this.last++;
    return Promise.resolve(this.last);
  }

  /** Emits the next messages, as a consumer receives them. */
  send(count: number): void {
    for (let left = count; left > 0 && this.sent < this.last; left--) this.#live$.next(messageAt(++this.sent));
  }

  /** Emits messages again, as after a lost acknowledgement. */
  sendAgain(count: number): void {
    for (let cursor = Math.max(1, this.sent - count + 1); cursor <= this.sent; cursor++) this.#live$.next(messageAt(cursor));
  }

  /** Forgets the oldest messages. */
  trim(count: number): void {
    this.first = Math.min(this.last + 1, this.first + count);
  }

  /** Sends messages of each history that is being read. A history ends at the end of the log. */
  answer(count: number): void {
    for (const read of [...this.#reads]) for (let left = count; left > 0 && !read.subscriber.closed; left--) this.#answerOne(read);
  }

  #answerOne(read: Read): void {
    const cursor = read.next ?? this.first;
    read.next = cursor + 1;
    if (cursor > this.last) read.subscriber.complete();
    else if (cursor < this.first) read.subscriber.error(new CursorLost(this.last));
    else read.subscriber.next(messageAt(cursor));
  }
}

interface Read {
  /** `null` before the first message of a history without a place. */
  next: number | null;
  readonly subscriber: Subscriber<Message<string, number>>;
}

function messageAt(cursor: number): Message<string, number> {
  return { cursor, value: `m${cursor}` };
}
