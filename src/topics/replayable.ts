import { Subscription } from 'rxjs';
import { log } from '../logger.js';
import { adopted, pullSource, refuseBytes } from '../stream/input.js';
import type { PullSource, Source } from '../stream/input.js';
import { PulledIterator } from '../stream/iterator.js';
import type { Pull } from '../stream/iterator.js';
import { guard } from '../rx/subscribers.js';
import { checkNumber, checkOptions, optionError } from '../util/check.js';
import { Fifo } from '../util/collections.js';
import { patientTimer } from '../util/time.js';
import { Following } from './catch-up.js';
import type { Followed } from './catch-up.js';
import { CursorLost, newEpoch, numberOf } from './cursor.js';
import type { TopicItem } from './log.js';
import { END, sourceOf } from './log-source.js';
import type { End } from './log-source.js';

/** Values to run once: a source, or a function that returns one. The signal of the function aborts when the source is stopped. */
export type ReplayableSource<T> = Source<T> | ((signal: AbortSignal) => Source<T>);

/** How much of a source is kept, and for how long. */
export interface ReplayableOptions {
  /** Keeps this many values, the last ones. A pulled source runs at most half of them ahead of its readers. Default 10 000. */
  readonly keep?: number | undefined;
  /** Ends the source, and drops the kept values, once no reader was there for this long, in ms. Default 60 000. */
  readonly idleMs?: number | undefined;
}

/** A source that outlives its readers. */
export interface Replayable<T> {
  /**
   * Returns the values after a cursor: first the kept ones, then new ones, then the end or the error of the source. It is the answer of a
   * stream, for `topic` at the client.
   *
   * Errors with {@link CursorLost} where values after the cursor are no longer kept. The same holds for a value that is no cursor, and for
   * every reader once the source was ended without one.
   *
   * @param cursor the cursor of the client's last item, as it came; `null` and `undefined` for all values from the first one on
   */
  after(cursor: string | null | undefined): Followed<TopicItem<T>>;
  /** Ends the source. Readers get the values up to here, and complete. Does nothing after the end. */
  stop(): void;
  /** Resolves once no reader was there for `idleMs`: nothing is kept any more, so forget the object. Never rejects. */
  readonly closed: Promise<void>;
}

/**
 * Runs a source once, for readers that leave and come back: the tokens of a language model, a report, an export. Each value has a cursor.
 * A reader that comes back with its last one gets each later value once, and in order.
 *
 * The source starts at once. It runs on without a reader, and ends `idleMs` after the last one has left. A source that has ended by itself
 * is kept as long, for readers that come late.
 *
 * An iterable is pulled, at most half of `keep` values ahead of its furthest reader. So a reader that was cut off finds the other half. An
 * Observable pushes: a reader that is more than `keep` values behind gets {@link CursorLost}. No bytes are counted.
 *
 * The values live in this process. For clients that may come back to another server, publish them to a log of a broker.
 *
 * @param source an Observable, an iterable, a stream, or a function that returns one. The signal of the function aborts when the source is
 *   stopped; pass it to `fetch`
 * @throws TypeError for bytes and for a value that is no source; unless `keep` is a number of at least 1 and `idleMs` one of at least 0
 *
 * @example
 * ```ts
 * const answer = replayable((signal) => tokensOf(prompt, signal), { idleMs: 30_000 });
 * peer.streams$.pipe(respond((payload: { since: string | null }) => answer.after(payload.since))).subscribe();
 * ```
 */
export function replayable<T>(source: ReplayableSource<T>, options: ReplayableOptions = {}): Replayable<T> {
  checkOptions(options, { keep: true, idleMs: true });
  const { keep = 10_000, idleMs = 60_000 } = options;
  refuseBytes(source);
  if (typeof source !== 'function' && (typeof source !== 'object' || (source as unknown) === null))
    throw optionError('replayable', 'an Observable, an iterable, or a function that returns one', source);
  return new Replay(source, Math.floor(checkNumber('keep', keep, 1)), checkNumber('idleMs', idleMs));
}

/** An item, the end, or an error. */
type Next<T> = IteratorYieldResult<TopicItem<T>> | End;

/** No value has this number, so a reader behind it is lost. */
const LOST = -1;

class Replay<T> implements Replayable<T>, Pull<unknown> {
  readonly #epoch = newEpoch();
  /** The kept values by their numbers, the oldest first. */
  readonly #kept = new Map<number, T>();
  /** The number of the last value. */
  #last = 0;
  #end: End | null = null;
  /** Whether a reader has met the end. */
  #isSeen = false;
  readonly #readers = new Set<Reader<T>>();
  /** The furthest place of all readers so far. */
  #furthest = 0;
  #idle = Subscription.EMPTY;
  readonly #abort = new AbortController();
  /** `null` before the source has begun, and after its end. */
  #source: PullSource | null = null;
  /** How far the source may run ahead of its readers. An Observable pushes anyway. */
  #ahead = Infinity;
  #isAsked = false;
  #isAdvancing = false;
  #close: (() => void) | null = null;
  readonly closed = new Promise<void>((resolve) => (this.#close = resolve));

  constructor(
    source: ReplayableSource<T>,
    private readonly keep: number,
    private readonly idleMs: number,
  ) {
    this.#wait();
    try {
      this.#begin(typeof source === 'function' ? source(this.#abort.signal) : source);
    } catch (error) {
      this.#finish({ error });
    }
  }

  after(cursor: string | null | undefined): Followed<TopicItem<T>> {
    return new Following(() => new Reader(this, this.#placeOf(cursor)));
  }

  stop(): void {
    if (this.#end === null) this.#stop(END);
  }

  /** The source has passed a value, or has completed. */
  resolve({ done, value }: IteratorResult<unknown, unknown>): void {
    this.#isAsked = false;
    if (this.#end !== null) return;
    if (done === true) this.#finish(END);
    else {
      this.#kept.set(++this.#last, value as T);
      this.#kept.delete(this.#last - this.keep);
      for (const reader of this.#readers) reader.advance();
      this.#advance();
    }
  }

  /** The source has failed. */
  reject(error: unknown): void {
    if (this.#end === null) this.#finish({ error });
  }

  entered(reader: Reader<T>): void {
    this.#idle.unsubscribe();
    this.#readers.add(reader);
  }

  left(reader: Reader<T>): void {
    if (this.#readers.delete(reader) && this.#readers.size === 0) this.#wait();
  }

  /** A reader has got to a place. */
  reached(place: number): void {
    if (place <= this.#furthest) return;
    this.#furthest = place;
    this.#advance();
  }

  /** Returns what follows a place; `null` while a reader has to wait. */
  next(place: number): Next<T> | null {
    const number = place + 1;
    if (number <= this.#last) {
      if (!this.#kept.has(number)) return { error: new CursorLost(this.#cursor(this.#last)) };
      return { done: false, value: { cursor: this.#cursor(number), value: this.#kept.get(number) as T } };
    }
    if (this.#end === null) return null;
    this.#isSeen = true;
    return this.#end;
  }

  #begin(source: Source<T>): void {
    const input = adopted(source) as Source<T>;
    refuseBytes(input);
    const pulled = pullSource(Object(input) as object);
    if (pulled !== null) this.#ahead = this.keep / 2;
    this.#source = pulled ?? sourceOf(input);
    this.#advance();
  }

  #placeOf(cursor: string | null | undefined): number {
    if (cursor === null || cursor === undefined) return 0;
    const place = numberOf(cursor);
    return place <= this.#last && cursor.startsWith(`${this.#epoch}:`) ? place : LOST;
  }

  /** Pulls values, as long as they are not too far ahead. A loop, because a source may answer at once. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#source !== null && !this.#isAsked && this.#last - this.#furthest < this.#ahead) this.#ask(this.#source);
    this.#isAdvancing = false;
  }

  #ask(source: PullSource): void {
    this.#isAsked = true;
    try {
      source.pull(this);
    } catch (error) {
      this.reject(error);
    }
  }

  #stop(end: End): void {
    const source = this.#source;
    this.#finish(end);
    this.#abort.abort();
    guard('ending the source of a replayable', () => source?.stop());
  }

  #finish(end: End): void {
    this.#source = null;
    this.#end = end;
    for (const reader of this.#readers) reader.advance();
  }

  /** Waits for a reader. */
  #wait(): void {
    this.#idle = patientTimer(this.idleMs, () => {
      this.#release();
    });
  }

  #release(): void {
    if (this.#end === null)
      this.#stop({
        error: new CursorLost(this.#cursor(this.#last), `the source was ended, because it had no reader for ${this.idleMs} ms`),
      });
    else if ('error' in this.#end && !this.#isSeen)
      log('error', 'the source of a replayable has failed, and no reader came for its error', this.#end.error);
    this.#isSeen = true;
    this.#kept.clear();
    this.#close?.();
  }

  #cursor(number: number): string {
    return `${this.#epoch}:${number}`;
  }
}

/** Reads the values after a place. Pulls that do not await each other wait in line. */
class Reader<T> extends PulledIterator<TopicItem<T>> {
  readonly #line = new Fifo<Pull<TopicItem<T>>>();
  #isOver = false;
  #isAdvancing = false;

  constructor(
    private readonly replay: Replay<T>,
    private place: number,
  ) {
    super();
    replay.entered(this);
  }

  pull(taker: Pull<TopicItem<T>>): void {
    this.#line.push(taker);
    this.advance();
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#leave();
    this.advance();
    return Promise.resolve(END);
  }

  /** A loop, because a taker may pull again at once. */
  advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    for (let taker = this.#line.peek(); taker !== undefined && this.#pass(taker); taker = this.#line.peek());
    this.#isAdvancing = false;
  }

  /** Passes the next item, or the end. Returns `false` where the taker has to wait. */
  #pass(taker: Pull<TopicItem<T>>): boolean {
    const next = this.#isOver ? END : this.replay.next(this.place);
    if (next === null) return false;
    this.#line.shift();
    if ('error' in next) {
      this.#leave();
      taker.reject(next.error);
    } else if (next.done === true) {
      this.#leave();
      taker.resolve(next);
    } else {
      this.replay.reached(++this.place);
      taker.resolve(next);
    }
    return true;
  }

  #leave(): void {
    this.#isOver = true;
    this.replay.left(this);
  }
}
