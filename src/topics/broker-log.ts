import { defer, finalize, firstValueFrom, from, noop, Observable, share } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { Outage } from './broker-error.js';
import type { BrokerError } from './broker-error.js';
import { CursorLost } from './cursor.js';
import { MAX_ITEM_BYTES, toMessageJson } from './json-value.js';
import { checkPublish } from './log.js';
import type { Log, Message, PublishOptions } from './log.js';

/** The work of an adapter at its broker. A cursor names a message that the broker keeps. */
export interface Broker<T> {
  /** The name of the topic in messages of the log. */
  readonly name: string;
  /** Returns the place of the last message. Writes a first message into an empty topic, so that it has a place. */
  head(): Promise<string>;
  /**
   * Reads the messages after a cursor: to the end of the topic, or until `signal` aborts. Throws where it has to begin anew.
   *
   * @param after a client may send any value; `null` to read every message that is kept
   * @throws CursorLost where messages after it are no longer kept
   */
  read(after: string | null, toEnd: boolean, signal: AbortSignal): AsyncGenerator<Message<T, string>, void>;
  publish(json: string, options: PublishOptions): Promise<string>;
  newer(a: string, b: string): boolean;
  /** Explains an error of the client. */
  explain(error: unknown): BrokerError;
}

/** The reader of a process. */
interface Reader {
  /** The place where it began. */
  readonly begun: Promise<string>;
  /** The place of its last message; `null` until it has begun. */
  place: string | null;
}

/**
 * A log over a broker with history. One reader serves all subscribers of the process. It begins at a known message and reads on from its
 * last one, so a lost connection leaves nothing out. While the broker is away, subscribers wait.
 */
export class BrokerLog<T> implements Log<T> {
  /** `null` while `live$` has no subscriber. */
  #reader: Reader | null = null;
  readonly #outage = new Outage();
  readonly live$: Observable<Message<T, string>>;

  constructor(
    private readonly broker: Broker<T>,
    readonly maxItemBytes = MAX_ITEM_BYTES,
  ) {
    this.live$ = aborting((signal) => this.#follow(signal)).pipe(share());
  }

  newer(a: string, b: string): boolean {
    return this.broker.newer(a, b);
  }

  head(): Observable<string> {
    return aborting(async (signal) => {
      await this.#begun();
      return this.#askHead(signal);
    });
  }

  history(cursor: string | null): AsyncIterable<Message<T, string>> {
    return { [Symbol.asyncIterator]: () => this.#iterate(cursor) };
  }

  async publish(value: T, options: PublishOptions = {}): Promise<string> {
    checkPublish(options);
    const json = toMessageJson(value, this.maxItemBytes);
    try {
      return await this.broker.publish(json, options);
    } catch (error) {
      throw this.broker.explain(error);
    }
  }

  /** A generator alone would end only at its next message, which may never come. */
  #iterate(cursor: string | null): AsyncIterator<Message<T, string>, void> {
    const abort = new AbortController();
    const messages = this.#historyOf(cursor, abort.signal);
    return {
      next: () => messages.next(),
      return: () => {
        abort.abort();
        return messages.return();
      },
    };
  }

  async *#historyOf(cursor: string | null, signal: AbortSignal): AsyncGenerator<Message<T, string>, void> {
    await this.#begun();
    // Later messages come through `live$`. The broker may no longer keep the message of the cursor.
    if (cursor !== null && cursor === this.#reader?.place) return;
    yield* this.#readOn(cursor, true, signal);
  }

  #follow(signal: AbortSignal): Observable<Message<T, string>> {
    const reader: Reader = { begun: this.#askHead(signal), place: null };
    this.#reader = reader;
    return new Observable((subscriber) => {
      const read = async (): Promise<void> => {
        reader.place = await reader.begun;
        for await (const message of this.#readOn(reader.place, false, signal)) {
          reader.place = message.cursor;
          subscriber.next(message);
        }
      };
      read().catch((error: unknown) => {
        subscriber.error(error);
      });
      return () => {
        // A subscriber that has come at the error has begun another reader.
        if (this.#reader === reader) this.#reader = null;
      };
    });
  }

  /** Reads on from the last message wherever the broker was away. */
  async *#readOn(after: string | null, toEnd: boolean, signal: AbortSignal): AsyncGenerator<Message<T, string>, void> {
    let place = after;
    while (!signal.aborted) {
      try {
        for await (const message of this.broker.read(place, toEnd, signal)) {
          place = message.cursor;
          this.#outage.over();
          yield message;
        }
        return;
      } catch (error) {
        await this.#waitAfter(error, signal);
      }
    }
  }

  /** Waits until the reader of the process has begun, or has left before. */
  async #begun(): Promise<void> {
    await this.#reader?.begun.catch(noop);
  }

  /** Asks again until the broker answers. */
  async #askHead(signal: AbortSignal): Promise<string> {
    for (;;) {
      try {
        return await this.broker.head();
      } catch (error) {
        await this.#waitAfter(error, signal);
      }
    }
  }

  /** Waits for the next try. Throws an error that stays. */
  async #waitAfter(error: unknown, signal: AbortSignal): Promise<void> {
    if (error instanceof CursorLost) throw error;
    const explained = this.broker.explain(error);
    if (signal.aborted) throw explained;
    await firstValueFrom(this.#outage.wait(explained));
  }
}

/** Subscribes to work whose signal aborts at the end of the subscription. */
function aborting<R>(work: (signal: AbortSignal) => ObservableInput<R>): Observable<R> {
  return defer(() => {
    const abort = new AbortController();
    return from(work(abort.signal)).pipe(
      finalize(() => {
        abort.abort();
      }),
    );
  });
}
