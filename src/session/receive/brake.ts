import { steadyNow } from '../../util/time.js';
import { LazyMap, LazySet } from '../../util/collections.js';

/**
 * Slows the remote while the consumers of streams lag far behind. A consumer that reads nothing for a whole `pauseMs` must not slow the other
 * streams. The brake then ignores its stream, and the stream reaches `maxUnreadBytes` instead.
 */
export abstract class Brake {
  /** The streams that lag, with the time when each last read. */
  protected readonly lagging = new LazyMap<object, number>();
  /** Ignored streams. They lag again only after they have caught up. */
  readonly #ignored = new LazySet<object>();
  #stopped = false;

  constructor(protected readonly pauseMs: number) {}

  /** A stream holds too many unread bytes. */
  lag(stream: object): void {
    if (this.#stopped || this.lagging.has(stream) || this.#ignored.has(stream)) return;
    this.lagging.set(stream, steadyNow());
    if (this.lagging.size === 1) this.engage();
  }

  /** Whether the brake ignores a stream. */
  ignores(stream: object): boolean {
    return this.#ignored.has(stream);
  }

  /** The consumer of a stream has caught up or left. */
  caughtUp(stream: object): void {
    this.#ignored.delete(stream);
    if (!this.lagging.has(stream)) return;
    this.lagging.delete(stream);
    if (this.lagging.size === 0) this.release();
  }

  /** Slows the remote no longer, however many bytes the streams hold. */
  resume(): void {
    if (this.lagging.size === 0) return;
    this.lagging.clear();
    this.release();
  }

  /** Never slows the remote again. */
  stop(): void {
    this.#stopped = true;
    this.resume();
  }

  /** A stream has read nothing for a whole `pauseMs`. Does not {@link release} the brake. */
  protected ignore(stream: object): void {
    this.lagging.delete(stream);
    this.#ignored.add(stream);
  }

  /** The first stream lags. */
  protected abstract engage(): void;

  /** No stream lags any more. */
  protected abstract release(): void;
}
