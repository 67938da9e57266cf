import { steadyNow } from '../../util/time.js';
import type { Transport } from '../../transport/transport.js';
import type { ReadBackpressure } from '../receive/read-backpressure.js';

/** Bytes that merely pass through a socket: so many at most, for so many ms at most. More bytes or more time mean a full socket. */
const PASSING_BYTES = 16 * 1024;
const PASSING_MS = 100;

/**
 * Dates when the socket last took bytes of this side. No platform has an event for that, so each sample compares the bytes that the socket
 * holds with the sample before. A name that ends in `ReadTime` is a time on the clock that stands still while reading is paused.
 */
export class WriteProgress {
  /** Bytes sent to the socket, and bytes that the socket held, at the last sample. */
  #sentBytes: number;
  #heldBytes = 0;
  /** Bytes of probes. A socket that takes them proves nothing. */
  #probeBytes = 0;
  #sentAt = 0;
  #sentAtReadTime = 0;
  #tookAt = 0;
  #tookAtReadTime = 0;
  /** Whether the last sample saw the socket hold bytes back. The kernel is then full, and only the remote makes room. */
  #heldBack = false;
  #lookedAtReadTime = 0;
  #drainedAtReadTime = 0;

  constructor(
    private readonly transport: Transport,
    private readonly reading: ReadBackpressure,
  ) {
    this.#sentBytes = transport.sentBytes;
  }

  /** The socket is open. It counts as having taken everything so far. */
  begin(): void {
    this.#sentAt = this.#tookAt = steadyNow();
    this.#sentAtReadTime = this.#tookAtReadTime = this.#lookedAtReadTime = this.#drainedAtReadTime = this.reading.at(this.#sentAt);
  }

  /** The socket has accepted a message. */
  sent(now: number): void {
    this.#sentAt = now;
    this.#sentAtReadTime = this.reading.at(this.#sentAt);
  }

  /** Sends a probe, such as the ping of the keepalive. A socket that takes a probe proves nothing about the remote. */
  sendProbe(send: () => void): void {
    this.#look();
    send();
    // A socket that holds the probe counts its header too.
    this.#probeBytes = Math.max(this.transport.sentBytes - this.#sentBytes, this.transport.bufferedAmount - this.#heldBytes);
  }

  /** Samples the socket. Returns when the socket last took bytes, as far as samples show. */
  tookAt(): number {
    this.#look();
    return this.#tookAt;
  }

  /** Samples the socket. Returns {@link tookAt} on the clock that stands still while reading is paused. */
  tookAtReadTime(): number {
    this.#look();
    return this.#tookAtReadTime;
  }

  /**
   * Samples the socket. Returns when the remote has provably taken bytes, on the same clock. Only a socket that held bytes back proves
   * anything about the remote: the kernel below has room for megabytes.
   */
  drainedAtReadTime(): number {
    this.#look();
    return this.#drainedAtReadTime;
  }

  // Each sample starts afresh. Bytes that the socket adds to messages then hide only the movement between two samples.
  #look(): void {
    const { bufferedAmount, sentBytes } = this.transport;
    const taken = sentBytes - this.#sentBytes + this.#heldBytes - bufferedAmount;
    const isEmpty = bufferedAmount === 0;
    const now = steadyNow();
    const readTime = this.reading.at(now);
    if (taken > this.#probeBytes) {
      this.#tookAt = isEmpty ? this.#sentAt : now;
      this.#tookAtReadTime = isEmpty ? this.#sentAtReadTime : readTime;
      // An empty socket drained at some time since the last sample. Take the earliest, so that liveness is never overstated.
      if (this.#heldBack) this.#drainedAtReadTime = isEmpty ? this.#lookedAtReadTime : readTime;
    }
    if (taken > 0) this.#probeBytes = isEmpty ? 0 : Math.max(0, this.#probeBytes - taken);
    this.#heldBack = bufferedAmount > PASSING_BYTES || (!isEmpty && now - this.#sentAt > PASSING_MS);
    this.#lookedAtReadTime = readTime;
    this.#sentBytes = sentBytes;
    this.#heldBytes = bufferedAmount;
  }
}
