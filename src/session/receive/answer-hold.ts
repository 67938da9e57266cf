import { Subscription } from 'rxjs';
import { patientTimer } from '../base/patient-timer.js';
import { steadyNow } from '../../util/time.js';
import { Fifo } from '../../wire/fifo.js';
import { Brake } from './brake.js';

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
 * Slows the bulk of the remote while a stream lags. Our senders send no more bulk than a window beyond the last answered ping. So while a
 * stream lags, the pings behind the data get their answers as consumers read. Small frames of other streams go on.
 */
export class AnswerHold extends Brake {
  readonly #held = new Fifo<HeldPing>();
  /** Whether a ping has waited since streams lag. */
  #isPinged = false;
  /** Bytes that lagging streams have read since the last answer. */
  #readBytes = 0;
  /** Bytes received before the last ping that measured data. */
  #measuredBytes = 0;
  /** When the oldest ping became the oldest. */
  #oldestAt = 0;
  #timer = Subscription.EMPTY;
  #heldSince = 0;
  #heldMs = 0;

  constructor(
    private readonly answers: Answers,
    pauseMs: number,
  ) {
    super(pauseMs);
  }

  /** How long pings have waited so far, in ms. */
  get heldMs(): number {
    return this.#heldMs + (this.#held.length > 0 ? steadyNow() - this.#heldSince : 0);
  }

  /** Whether the remote slows down for a stream: it has pinged behind its bulk since streams lag, and the brake does not ignore the stream. */
  slows(stream: object): boolean {
    return this.#isPinged && !this.ignores(stream);
  }

  /** The remote pings, after so many received bytes on this connection. */
  pinged(nonce: string | null, receivedBytes: number): void {
    const bytes = receivedBytes - this.#measuredBytes;
    const measures = bytes >= MEASURED_BYTES;
    if (measures) this.#measuredBytes = receivedBytes;
    if (!measures || this.lagging.size === 0 || Number(nonce?.length) > MAX_NONCE_LENGTH) this.answers.pong(nonce);
    else this.#hold({ nonce, bytes });
  }

  /** The consumer of a stream has read, and still lags if the stream lagged. */
  read(stream: object, bytes: number): void {
    if (!this.lagging.has(stream)) return;
    this.lagging.set(stream, steadyNow());
    this.#readBytes += bytes;
    for (let ping = this.#held.peek(); ping !== undefined && ping.bytes <= this.#readBytes; ping = this.#held.peek()) {
      this.#readBytes -= ping.bytes;
      this.#answerFirst();
    }
    if (this.#held.length === 0) this.#readBytes = 0;
  }

  protected engage(): void {
    // A look answers pings, which may release the brake and engage it again within that look.
    this.#timer.unsubscribe();
    this.#timer = patientTimer(Math.min(LOOK_MS, this.pauseMs), (onTime) => {
      this.#look(onTime);
    });
  }

  /** Answers every ping. */
  protected release(): void {
    this.#timer.unsubscribe();
    this.#readBytes = 0;
    this.#isPinged = false;
    while (this.#held.length > 0) this.#answerFirst();
  }

  #hold(ping: HeldPing): void {
    if (this.#held.length === 0) this.#heldSince = this.#oldestAt = steadyNow();
    this.#isPinged = true;
    this.#held.push(ping);
    if (this.#held.length > MAX_HELD) this.#answerFirst();
  }

  #answerFirst(): void {
    const nonce = this.#held.shift()?.nonce ?? null;
    this.#oldestAt = steadyNow();
    if (this.#held.length === 0) this.#heldMs += this.#oldestAt - this.#heldSince;
    this.answers.pong(nonce);
  }

  #look(onTime: boolean): void {
    this.#giveUpIdle(onTime);
    if (this.lagging.size > 0 && this.#held.length > 0) this.#answerOverdue();
    if (this.lagging.size > 0) this.engage();
    else this.release();
  }

  #giveUpIdle(onTime: boolean): void {
    const now = steadyNow();
    for (const [stream, readAt] of this.lagging) {
      // A late timer proves nothing about the consumer: start its period again.
      if (!onTime) this.lagging.set(stream, now);
      else if (now - readAt >= this.pauseMs) this.ignore(stream);
    }
  }

  #answerOverdue(): void {
    this.answers.signOfLife();
    // The next look would come too late.
    if (steadyNow() - this.#oldestAt > HOLD_MS - LOOK_MS) this.#answerFirst();
  }
}
