import { steadyNow } from '../../transport/steady-clock.js';
import type { Transport } from '../../transport/transport.js';
import type { ReadBackpressure } from '../receive/read-backpressure.js';

/** Bytes that a socket may hold, and ms for which it may, only because they are on their way through it. */
const PASSING_BYTES = 16 * 1024;
const PASSING_MS = 100;

/**
 * When the socket last took bytes of ours. No platform has an event for that, so it is seen by comparing what the socket holds between two
 * looks. A name that ends in `ReadTime` is a time on the clock that stands still while reading is paused.
 */
export class WriteProgress {
  /** Given to the socket, and held by it, at the last look. */
  #sentBytes: number;
  #heldBytes = 0;
  /** Bytes of probes, which say nothing when they are taken. */
  #probeBytes = 0;
  #sentAt: number;
  #sentAtReadTime: number;
  #tookAt: number;
  #tookAtReadTime: number;
  /** Whether the socket held bytes back when it was looked at: it is full below, where only the remote makes room. */
  #heldBack = false;
  #lookedAtReadTime: number;
  #drainedAtReadTime: number;

  constructor(
    private readonly transport: Transport,
    private readonly reading: ReadBackpressure,
  ) {
    this.#sentBytes = transport.sentBytes;
    this.#sentAt = this.#tookAt = steadyNow();
    this.#sentAtReadTime = this.#tookAtReadTime = this.#lookedAtReadTime = this.#drainedAtReadTime = reading.at(this.#sentAt);
  }

  /** A message was given to the socket. */
  sent(now: number): void {
    this.#sentAt = now;
    this.#sentAtReadTime = this.reading.at(this.#sentAt);
  }

  /** Sends something that says nothing about the other side when it is taken, such as the ping that asks for life. */
  sendProbe(send: () => void): void {
    this.#look();
    send();
    // A socket that holds it counts its header too.
    this.#probeBytes = Math.max(this.transport.sentBytes - this.#sentBytes, this.transport.bufferedAmount - this.#heldBytes);
  }

  /** Takes a look: when bytes were last taken, as far as looking can tell. */
  tookAt(): number {
    this.#look();
    return this.#tookAt;
  }

  /** Takes a look: the same on the clock that stands still while reading is paused. */
  tookAtReadTime(): number {
    this.#look();
    return this.#tookAtReadTime;
  }

  /**
   * Takes a look: when the remote is known to have taken bytes, on the same clock. What a socket takes that held nothing back says nothing of the
   * remote: below it is room for megabytes.
   */
  drainedAtReadTime(): number {
    this.#look();
    return this.#drainedAtReadTime;
  }

  // Each look starts afresh, so that what the socket adds to messages hides no more than the movement between two looks.
  #look(): void {
    const { bufferedAmount, sentBytes } = this.transport;
    const taken = sentBytes - this.#sentBytes + this.#heldBytes - bufferedAmount;
    const isEmpty = bufferedAmount === 0;
    const now = steadyNow();
    const readTime = this.reading.at(now);
    const hadHeldBack = this.#heldBack;
    const lookedAtReadTime = this.#lookedAtReadTime;
    this.#heldBack = bufferedAmount > PASSING_BYTES || (!isEmpty && now - this.#sentAt > PASSING_MS);
    this.#lookedAtReadTime = readTime;
    this.#sentBytes = sentBytes;
    this.#heldBytes = bufferedAmount;
    if (taken <= 0) return;
    const isMute = taken <= this.#probeBytes;
    this.#probeBytes = isEmpty ? 0 : Math.max(0, this.#probeBytes - taken);
    if (isMute) return;
    this.#tookAt = isEmpty ? this.#sentAt : now;
    this.#tookAtReadTime = isEmpty ? this.#sentAtReadTime : readTime;
    // A socket that is empty has emptied somewhere since the look before: the earliest moment is taken, so that no life is made up.
    if (hadHeldBack) this.#drainedAtReadTime = isEmpty ? lookedAtReadTime : readTime;
  }
}
