import { Subscription } from 'rxjs';
import type { Transport } from '../transport/transport.js';
import { Fifo, LazyMap, LazySet } from '../util/collections.js';
import { patientTimer, steadyNow } from '../util/time.js';
import type { Clock } from '../util/time.js';
import { ResetCode } from '../wire/codes.js';
import type { Limits } from '../wire/limits.js';
import { HeldBytes } from '../wire/reassembly.js';
import type { Excess } from '../stream/receiving.js';
import type { StreamCore } from '../stream/stream-core.js';
import type { Share } from './connection.js';

/** Unread payloads leave this part of the limit to attached bytes, which every new stream needs. */
const ATTACHED_SHARE = 1 / 16;
/** A remote that slows down may send this multiple of `maxUnreadBytes`: a long line holds that much. */
const PACED_LIMITS = 2;
/** For a remote that slows down, the socket is paused at this part of the limit. A window of bulk fits in between. */
const PACED_PAUSE_SHARE = 7 / 8;
/** The bytes beyond `pauseBytes` that pause the socket of any other remote. */
const UNPACED_BYTES = 2 * 1024 * 1024;
/** For any other remote, the socket is paused no later than at this part of the limit, because bytes that were read already still come. */
const PAUSE_SHARE = 3 / 4;

/** Counts unread payloads per stream and per connection. Slows the remote when a stream holds too many bytes: its bulk first, then the socket. */
export class Budget {
  /** Bytes of unfinished and unread payloads. */
  readonly held: HeldBytes;
  /** Payloads of opens, headers and trailers, which live as long as their streams. Shares the limit with {@link held}. */
  readonly attached: HeldBytes;
  /** Made for the first stream that lags, or the first ping that measures data. */
  #hold: AnswerHold | null = null;

  constructor(
    private readonly limits: Limits,
    private readonly reading: ReadBackpressure,
    private readonly answers: Answers,
    private readonly share: Share | null = null,
  ) {
    this.held = new HeldBytes(limits, null, 0, share);
    this.attached = new HeldBytes(limits, this.held, ATTACHED_SHARE, share);
  }

  /** How long pings have waited so far, in ms. */
  get heldMs(): number {
    return this.#hold?.heldMs ?? 0;
  }

  #ownHold(): AnswerHold {
    return (this.#hold ??= new AnswerHold(this.answers, this.limits.pauseMs));
  }

  /** Bytes of both. */
  get used(): number {
    return this.held.used + this.attached.used;
  }

  /**
   * Counts a payload of `bytes` encoded bytes and `weight` bytes of memory, with which its stream has `unread` encoded bytes.
   *
   * @returns the excess over a limit, or `null` if the payload was counted
   */
  keep(stream: StreamCore, unread: number, bytes: number, weight: number): Excess | null {
    const mostUnread = this.#mostUnread(stream);
    if (unread > mostUnread) {
      const reason = `${unread} unread bytes are over the limit of ${mostUnread} (maxUnreadBytes)`;
      return { code: ResetCode.FLOW_CONTROL, reason };
    }
    if (!this.held.take(weight)) return tooMuch(this.held, weight);
    // A closed stream receives nothing more, so its reader need not slow the remote.
    if (!stream.hasClosed) this.#slow(stream, unread, bytes);
    return null;
  }

  /** Counts `bytes` that live as long as their stream. Returns the excess over the limit, or `null`. */
  attach(bytes: number): Excess | null {
    return this.attached.take(bytes) ? null : tooMuch(this.attached, bytes);
  }

  /** The consumer has read or dropped a payload of `bytes` and `weight`, so its stream has `unread` encoded bytes left. */
  read(stream: StreamCore, unread: number, bytes: number, weight: number): void {
    this.held.release(weight);
    if (unread < this.#pauseFrom(stream)) this.reading.caughtUp(stream);
    if (unread < this.limits.pauseBytes) this.#hold?.caughtUp(stream);
    else this.#hold?.read(stream, bytes);
  }

  /** The remote pings, after `bytes` received on this connection. */
  pinged(nonce: string | null, receivedBytes: number): void {
    if (this.#hold === null && receivedBytes < MEASURED_BYTES) this.answers.pong(nonce);
    else this.#ownHold().pinged(nonce, receivedBytes);
  }

  /** A stream leaves, whatever its consumer has not read. */
  unblock(stream: StreamCore): void {
    this.reading.caughtUp(stream);
    this.#hold?.caughtUp(stream);
  }

  /** Slows the remote no longer, however many bytes the streams hold. */
  resume(): void {
    this.#hold?.resume();
    this.reading.resume();
  }

  /** Never slows the remote again, because the session must see the closing handshake. */
  stop(): void {
    this.#ownHold().stop();
    this.reading.stop();
  }

  /** Unread bytes of a stream that do not reset it. */
  #mostUnread(stream: StreamCore): number {
    const { maxUnreadBytes } = this.limits;
    return this.#slows(stream) ? PACED_LIMITS * maxUnreadBytes : maxUnreadBytes;
  }

  /** Unread bytes of a stream that pause the socket. */
  #pauseFrom(stream: StreamCore): number {
    const { pauseBytes } = this.limits;
    const most = this.#mostUnread(stream);
    const from = this.#slows(stream) ? most * PACED_PAUSE_SHARE : Math.min(pauseBytes + UNPACED_BYTES, most * PAUSE_SHARE);
    return Math.max(pauseBytes, from);
  }

  #slows(stream: StreamCore): boolean {
    return this.#hold?.slows(stream) === true;
  }

  #slow(stream: StreamCore, unread: number, bytes: number): void {
    if (this.share?.holdsMuch === true) this.reading.lag(stream);
    if (unread < this.limits.pauseBytes) return;
    const hold = this.#ownHold();
    hold.lag(stream);
    // The next payload may be as large.
    if (unread + bytes >= this.#pauseFrom(stream) && !hold.ignores(stream)) this.reading.lag(stream);
  }
}

function tooMuch(held: HeldBytes, bytes: number): Excess {
  return { code: ResetCode.ENHANCE_YOUR_CALM, reason: held.refusal(bytes) };
}

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

/**
 * Stops reading from the socket while a stream lags, for at most `pauseMs`.
 *
 * As a clock it stands still during a pause: a remote that this side does not read only seems silent.
 */
export class ReadBackpressure extends Brake implements Clock {
  #timer = Subscription.EMPTY;
  paused = false;
  /** When the last pause began. */
  #pausedAt = 0;
  /** The length of all earlier pauses. */
  #pausedMs = 0;

  constructor(
    private readonly transport: Transport,
    pauseMs: number,
  ) {
    super(pauseMs);
  }

  now(): number {
    return this.at(steadyNow());
  }

  /** Returns the time of this clock at `now` of the steady clock, in ms. */
  at(now: number): number {
    return (this.paused ? Math.min(now, this.#pausedAt) : now) - this.#pausedMs;
  }

  protected engage(): void {
    this.paused = true;
    this.#pausedAt = steadyNow();
    this.transport.pause();
    this.#timer = patientTimer(this.pauseMs, () => {
      for (const stream of this.lagging.keys()) this.ignore(stream);
      this.release();
    });
  }

  protected release(): void {
    this.#timer.unsubscribe();
    this.#pausedMs += steadyNow() - this.#pausedAt;
    this.paused = false;
    this.transport.resume();
  }
}

/** A ping measures data if this many bytes came since the last such ping. Pings of a keepalive or of an application come with less. */
export const MEASURED_BYTES = 32 * 1024;
/** While pings wait, the oldest one is answered at the latest after this time without an answer, in ms. */
export const HOLD_MS = 5_000;
/** The time in ms between signs of life for the remote, while pings wait. */
export const LOOK_MS = 1_000;
/** The most pings that wait. A sender of ours has no more unanswered. */
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

  /** The remote pings, after `bytes` received on this connection. */
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
    for (const [stream, readAt] of this.lagging.entries()) {
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
