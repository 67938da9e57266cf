import { map } from 'rxjs';
import { isBytes } from '../codec/json-check.js';
import { checkPeer } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { guard } from '../rx/subscribers.js';
import { adopted, observableFrom, pullSource, refuseBytes, releaseInput } from '../stream/input.js';
import type { Input, PullSource, Source } from '../stream/input.js';
import { PulledIterator } from '../stream/iterator.js';
import type { Pull } from '../stream/iterator.js';
import { SharedPayload } from '../stream/payload.js';
import { END, sourceOf } from '../topics/log-source.js';
import { checkFunction } from '../util/check.js';
import { QueueOverflowError } from '../wire/errors.js';
import { encodedLength } from '../wire/length.js';
import { DEFAULT_LIMITS } from '../wire/limits.js';

/** Items of an Observable wait up to here, as the queue of a stream. */
const MOST_WAITING_BYTES = DEFAULT_LIMITS.maxUnsentBytes;

/**
 * Reports how many bytes of an input the remote has taken: they have arrived at its peer, and its reader gets them next. Bytes that wait
 * here, in the socket or on the line do not count.
 *
 * The wire acknowledges no payload. So this pings behind the payloads that have left, one ping at a time, and counts them when the pong
 * comes. Reports thus come once a round trip, and up to 2.5 MiB of what they count may wait for a slow reader. Once a socket that drains has
 * a replacement, the pings take that one: bytes that are still on the old line count early.
 *
 * Bytes count as they are, and any other payload counts in its encoded form. The input is pulled as the queue drains. Items
 * that an Observable pushes meanwhile wait in memory. Beyond 64 MiB the call fails with QueueOverflowError.
 *
 * The result can be sent once. A call with `retry` needs a function, so that each attempt begins anew at 0.
 *
 * @param peer the peer that makes the call
 * @param onProgress gets the bytes so far: rising numbers, the last of which counts all bytes. It is not called once the input has failed, or
 *   was stopped before its end. The last report may come after the answer, or after the error with which the remote answers. A `close()`
 *   that follows the answer at once leaves it out.
 * @throws TypeError for a peer that is none, for bytes as the input, and unless `onProgress` is a function
 *
 * @example
 * ```ts
 * bar.max = file.size;
 * const input = () => withProgress(peer, file, (taken) => (bar.value = taken));
 * peer.open$({ op: 'upload', name: file.name }, { input, retry: 'safe' }).subscribe();
 * ```
 */
export function withProgress<T>(peer: Peer, input: Input<T>, onProgress: (taken: number) => void): AsyncIterableIterator<T, undefined> {
  checkPeer('withProgress', peer, 'status$');
  checkFunction('withProgress.onProgress', onProgress);
  refuseBytes(input);
  return new Progress<T>(peer, input, onProgress);
}

class Progress<T> extends PulledIterator<T> implements AsyncIterableIterator<T, undefined> {
  /** `null` before the first pull. */
  #source: PullSource | null = null;
  /** Bytes that were pulled. */
  #pulled = 0;
  /** Bytes that have left: the next item is pulled when all before it have. */
  #left = 0;
  #taken = 0;
  /** Bytes that an Observable has pushed, and that no pull has taken. */
  #waiting = 0;
  /** Too many bytes wait. */
  #overflow: QueueOverflowError | null = null;
  #isPinging = false;
  #isStopped = false;

  constructor(
    private readonly peer: Peer,
    private readonly input: Input<T>,
    private readonly onProgress: (taken: number) => void,
  ) {
    super();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  pull(taker: Pull<T>): void {
    this.#left = this.#pulled;
    this.#ping();
    try {
      this.#source ??= this.#begin();
      if (this.#overflow !== null) throw this.#overflow;
      this.#source.pull({
        resolve: ({ done, value }) => {
          if (done === true) taker.resolve(END);
          else this.#pass(value, taker);
        },
        reject: (error) => {
          this.#fail(error, taker);
        },
      });
    } catch (error) {
      this.#fail(error, taker);
    }
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#isStopped = true;
    if (this.#source === null) releaseInput(this.input);
    else this.#source.stop();
    return Promise.resolve(END);
  }

  #begin(): PullSource {
    const input = adopted(typeof this.input === 'function' ? this.input() : this.input);
    refuseBytes(input);
    return pullSource(Object(input) as object) ?? sourceOf(this.#bounded(input as Source<T>));
  }

  #bounded(input: Source<T>): Source<unknown> {
    return observableFrom(input).pipe(
      map((item) => {
        const sized = sizedFor(item);
        this.#waiting += this.#sizeOf(sized);
        if (this.#waiting > MOST_WAITING_BYTES) {
          this.#overflow = new QueueOverflowError(
            `${this.#waiting} bytes of an input wait, which is over the limit of ${MOST_WAITING_BYTES}`,
          );
          throw this.#overflow;
        }
        return sized;
      }),
    );
  }

  #pass(item: unknown, taker: Pull<T>): void {
    try {
      const sized = sizedFor(item);
      const bytes = this.#sizeOf(sized);
      this.#pulled += bytes;
      this.#waiting = Math.max(0, this.#waiting - bytes);
      taker.resolve({ done: false, value: sized as T });
    } catch (error) {
      this.#fail(error, taker);
    }
  }

  #fail(error: unknown, taker: Pull<T>): void {
    this.#isStopped = true;
    taker.reject(error);
  }

  #sizeOf(sized: ArrayBuffer | ArrayBufferView | SharedPayload): number {
    return sized instanceof SharedPayload ? encodedLength(sized.encodedBy(this.peer.codec)) : sized.byteLength;
  }

  /** Asks the remote whether it has taken what has left. */
  #ping(): void {
    if (this.#isPinging || this.#left === this.#taken) return;
    this.#isPinging = true;
    const left = this.#left;
    this.peer.ping().then(
      () => {
        this.#isPinging = false;
        if (this.#isStopped) return;
        this.#taken = left;
        guard('onProgress', () => {
          this.onProgress(left);
        });
        this.#ping();
      },
      () => {
        this.#isPinging = false;
      },
    );
  }
}

/** Shares the encoded form of an item with the stream that sends it. */
function sizedFor(item: unknown): ArrayBuffer | ArrayBufferView | SharedPayload {
  return isBytes(item) || item instanceof SharedPayload ? item : new SharedPayload(item);
}
