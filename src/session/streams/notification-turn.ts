import type { Codec } from '../../wire/codec.js';
import { isSmall } from '../../wire/envelope-bound.js';
import { encodedPartOf } from '../../wire/outgoing.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { LiveStream } from './live-stream.js';

/**
 * The notification that is leaving in several messages. A later notification waits for it. Otherwise their slices would take turns, and the
 * remote might handle the later one earlier (S9a).
 */
export class NotificationTurn {
  /** The notification, from its call until it has left. */
  #stream: LiveStream | null = null;

  constructor(
    private readonly codec: Codec,
    private readonly maxFrameBytes: number,
    /** Called when the next notification may follow. */
    private readonly passed: () => void,
  ) {}

  get isTaken(): boolean {
    return this.#stream !== null;
  }

  /** The stream is about to queue its notification. */
  queued(stream: LiveStream, open: OutgoingFrame): void {
    if (!open.isSmall && !isSmall(open, encodedPartOf(open), this.maxFrameBytes, this.codec)) this.#stream = stream;
  }

  /** A notification has left, or ended before it left. */
  ended(stream: LiveStream): void {
    if (stream !== this.#stream) return;
    this.#stream = null;
    this.passed();
  }
}
