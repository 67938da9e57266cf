import { isSmall } from '../../wire/envelope-bound.js';
import { encodedPartOf } from '../../wire/outgoing.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { MessageForm } from '../send/control-frames.js';
import type { LiveStream } from '../../stream/stream-core.js';

/** The parts of a session that its notifications use. */
export interface NotificationHost extends MessageForm {
  /** A notification of several messages has left. The next one may follow. */
  notified(): void;
}

/**
 * The notification that is leaving in several messages. A later notification waits for it. Otherwise their slices would take turns, and the
 * remote might handle the later one earlier (S9a).
 */
export class NotificationTurn {
  /** The notification, from its call until it has left. */
  #stream: LiveStream | null = null;

  constructor(private readonly host: NotificationHost) {}

  get isTaken(): boolean {
    return this.#stream !== null;
  }

  /** The stream is about to queue its notification. */
  queued(stream: LiveStream, open: OutgoingFrame): void {
    const { codec, maxFrameBytes } = this.host;
    if (!open.isSmall && !isSmall(open, encodedPartOf(open), maxFrameBytes, codec)) this.#stream = stream;
  }

  /** A notification has left, or ended before it left. */
  ended(stream: LiveStream): void {
    if (stream !== this.#stream) return;
    this.#stream = null;
    this.host.notified();
  }
}
