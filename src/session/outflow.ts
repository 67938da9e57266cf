import { asyncScheduler } from 'rxjs';
import type { Transport } from '../transport/transport.js';
import type { Reading } from './reading.js';

/** Bytes that a socket may hold, and for how many ms, only because they are on their way through it. */
const PASSING_BYTES = 16 * 1024;
const PASSING_MS = 100;

/** When the socket last took bytes of ours. Nothing tells: it is noticed by looking at what the socket still holds. */
export class Outflow {
  #sentBytes = 0;
  #heldBytes = 0;
  /** Bytes that say nothing when they are taken. */
  #mute = 0;
  #sentAt: number;
  #sentAtHeard: number;
  #tookAt: number;
  #tookAtHeard: number;
  /** Whether the socket held bytes back when it was looked at: it is full below, where only the remote makes room. */
  #heldBack = false;
  #lookedAtHeard: number;
  #drainedAtHeard: number;

  constructor(
    private readonly transport: Transport,
    private readonly reading: Reading,
  ) {
    this.#sentAt = this.#tookAt = asyncScheduler.now();
    this.#sentAtHeard = this.#tookAtHeard = this.#lookedAtHeard = this.#drainedAtHeard = reading.at(this.#sentAt);
  }

  /** A message was given to the socket. */
  sent(bytes: number): void {
    this.#sentBytes += bytes;
    this.#sentAt = asyncScheduler.now();
    this.#sentAtHeard = this.reading.at(this.#sentAt);
  }

  /** Sends something that says nothing about the other side when it is taken, such as the ping that asks for life. */
  sendMute(send: () => void): void {
    this.#look();
    send();
    // A socket that holds it counts its header too.
    this.#mute = Math.max(this.#sentBytes, this.transport.bufferedAmount - this.#heldBytes);
  }

  /** When bytes were last taken, as far as looking can tell. */
  tookAt(): number {
    this.#look();
    return this.#tookAt;
  }

  /** The same on the clock that stands still while reading is paused. */
  tookAtHeard(): number {
    this.#look();
    return this.#tookAtHeard;
  }

  /**
   * When the remote is known to have taken bytes, on the same clock. What a socket takes that held nothing back says nothing of the
   * remote: below it is room for megabytes.
   */
  drainedAtHeard(): number {
    this.#look();
    return this.#drainedAtHeard;
  }

  // Each look starts afresh, so that what the socket adds to messages hides no more than the movement between two looks.
  #look(): void {
    const { bufferedAmount } = this.transport;
    const taken = this.#sentBytes + this.#heldBytes - bufferedAmount;
    const isEmpty = bufferedAmount === 0;
    const now = asyncScheduler.now();
    const heard = this.reading.at(now);
    const hadHeldBack = this.#heldBack;
    const lookedAtHeard = this.#lookedAtHeard;
    this.#heldBack = bufferedAmount > PASSING_BYTES || (!isEmpty && now - this.#sentAt > PASSING_MS);
    this.#lookedAtHeard = heard;
    this.#sentBytes = 0;
    this.#heldBytes = bufferedAmount;
    if (taken <= 0) return;
    const isMute = taken <= this.#mute;
    this.#mute = isEmpty ? 0 : Math.max(0, this.#mute - taken);
    if (isMute) return;
    this.#tookAt = isEmpty ? this.#sentAt : now;
    this.#tookAtHeard = isEmpty ? this.#sentAtHeard : heard;
    // Of a socket that is empty by now it is only known that it was not at the look before.
    if (hadHeldBack) this.#drainedAtHeard = isEmpty ? lookedAtHeard : heard;
  }
}
