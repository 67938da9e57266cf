import { Subscription } from 'rxjs';
import { patientTimer } from '../base/patient-timer.js';
import { steadyNow } from '../../transport/steady-clock.js';
import { Fifo } from '../../wire/fifo.js';
import { LazyMap, LazySet } from '../../wire/lazy.js';

/** A ping measures data if so many bytes came since the last such ping. Pings of a keepalive or of an application come with less. */
export const MEASURED_BYTES = 32 * 1024;
/** While pings wait, the oldest one is answered after at most so many ms without an answer. */
export const HOLD_MS = 5_000;
/** The remote receives a sign of life each so many ms while pings wait. */
export const LOOK_MS = 1_000;
/** At most so many pings wait. A sender of ours has no more unanswered. */
export const MAX_HELD = 256;
/** A ping with a longer nonce never waits, so that waiting pings take little memory. */
const MAX_NONCE_LENGTH = 64;

/** Answers pings. */
export interface Answers {
  pong(nonce: string | null): void;
  /** Sends a ping of this side. */
  signOfLife(): void;
}

/** A ping that waits for its answer. */
interface HeldPing {
  readonly nonce: string | null;
  /** The bytes that came since the ping before. */
  readonly bytes: number;
}

/**
 * Slows the bulk of the remote while a stream's consumer lags far behind. Our senders send no more bulk than a window beyond the last answered
 * ping. So while a consumer lags, the pings behind the data get their answers as consumers read. Small frames of other streams go on.
 * A consumer that reads nothing for `pauseMs` must not slow the other streams; it reaches `maxUnreadBytes` instead.
 */
export class AnswerHold {
  /** The streams that lag, with the time when each last read. */
  readonly #lagging = new LazyMap<object, number>();
  /** Streams that read nothing for a whole `pauseMs`. They lag again only after they have caught up. */
  readonly #givenUp = new LazySet<object>();
  readonly #held = new Fifo<HeldPing>();
  /** Bytes that lagging streams have read since the last answer. */
  #readBytes = 0;
  /** Bytes received before the last ping that measured data. */
  #measuredBytes = 0;
  /** When the oldest ping became the oldest. */
  #oldestAt = 0;
  #timer = Subscription.EMPTY;
  #heldSince = 0;
  #heldMs = 0;
  #stopped = false;

  constructor(
    private readonly answers: Answers,
    private readonly pauseMs: number,
  ) {}

  /** How long pings have waited so far, in ms. */
  get heldMs(): number {
    return this.#heldMs + (this.#held.length > 0 ? steadyNow() - this.#heldSince : 0);
  }

  /** The remote pings, after so many received bytes on this connection. */
  pinged(nonce: string | null, receivedBytes: number): void {
    const bytes = receivedBytes - this.#measuredBytes;
    const measures = bytes >= MEASURED_BYTES;
    if (measures) this.#measuredBytes = receivedBytes;
    if (!measures || this.#lagging.size === 0 || Number(nonce?.length) > MAX_NONCE_LENGTH) this.answers.pong(nonce);
    else this.#hold({ nonce, bytes });
  }

  /** A stream holds too many unread bytes. */
  lag(stream: object): void {
    if (this.#stopped || this.#lagging.has(stream) || this.#givenUp.has(stream)) return;
    this.#lagging.set(stream, steadyNow());
    if (this.#timer.closed) this.#look();
  }

  /** Returns whether a stream lags and has read nothing for a whole `pauseMs`. */
  gaveUp(stream: object): boolean {
    return this.#givenUp.has(stream);
  }

  /** The consumer of a stream has read, and still lags if the stream lagged. */
  read(stream: object, bytes: number): void {
    if (!this.#lagging.has(stream)) return;
    this.#lagging.set(stream, steadyNow());
    this.#readBytes += bytes;
    for (let ping = this.#held.peek(); ping !== undefined && ping.bytes <= this.#readBytes; ping = this.#held.peek()) {
      this.#readBytes -= ping.bytes;
      this.#answerFirst();
    }
    if (this.#held.length === 0) this.#readBytes = 0;
  }

  /** The consumer of a stream has caught up or left. */
  caughtUp(stream: object): void {
    this.#givenUp.delete(stream);
    this.#lagging.delete(stream);
    this.#checkLagging();
  }

  /** Answers every ping, however many bytes the streams hold. */
  resume(): void {
    this.#lagging.clear();
    this.#checkLagging();
  }

  /** Answers every ping, now and later. */
  stop(): void {
    this.#stopped = true;
    this.resume();
  }

  #hold(ping: HeldPing): void {
    if (this.#held.length === 0) this.#heldSince = this.#oldestAt = steadyNow();
    this.#held.push(ping);
    if (this.#held.length > MAX_HELD) this.#answerFirst();
  }

  #answerFirst(): void {
    const nonce = this.#held.shift()?.nonce ?? null;
    this.#oldestAt = steadyNow();
    if (this.#held.length === 0) this.#heldMs += this.#oldestAt - this.#heldSince;
    this.answers.pong(nonce);
  }

  #checkLagging(): void {
    if (this.#lagging.size > 0) return;
    this.#timer.unsubscribe();
    this.#readBytes = 0;
    while (this.#held.length > 0) this.#answerFirst();
  }

  #look(): void {
    this.#timer = patientTimer(Math.min(LOOK_MS, this.pauseMs), (onTime) => {
      this.#giveUpIdle(onTime);
      this.#checkLagging();
      if (this.#lagging.size === 0) return;
      if (this.#held.length > 0) this.#answerOverdue();
      this.#look();
    });
  }

  #giveUpIdle(onTime: boolean): void {
    const now = steadyNow();
    for (const [stream, readAt] of this.#lagging) {
      // A late timer proves nothing about the consumer: start its period again.
      if (!onTime) this.#lagging.set(stream, now);
      else if (now - readAt >= this.pauseMs) {
        this.#lagging.delete(stream);
        this.#givenUp.add(stream);
      }
    }
  }

  #answerOverdue(): void {
    this.answers.signOfLife();
    // The next look would come too late.
    if (steadyNow() - this.#oldestAt > HOLD_MS - LOOK_MS) this.#answerFirst();
  }
}
