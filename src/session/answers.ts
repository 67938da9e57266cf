import { ConnectionFault } from '../wire/fault.js';
import type { Frame } from '../wire/frame.js';
import { LazySet } from '../wire/lazy.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import type { ResetCode } from '../wire/reset-code.js';
import type { Session } from './session.js';

/** The control frames that the remote alone causes. One that makes too many and does not read them is cut off. */
export class Answers {
  readonly #unsent = new LazySet<Frame>();

  constructor(private readonly session: Session) {}

  pong(nonce: string | null): void {
    this.#send(new OutgoingFrame({ type: 'pong', nonce }, null));
  }

  /** Resets a stream that this side does not hold. */
  reset(id: number, code: ResetCode, reason: string): void {
    this.#send(this.session.outbox.resetFrame(id, code, reason));
  }

  /** Whether a frame is an answer that has not left. */
  owe(frame: Frame): boolean {
    return this.#unsent.has(frame);
  }

  /** A frame has left. */
  sent(frame: Frame): void {
    this.#unsent.delete(frame);
  }

  #send(frame: OutgoingFrame): void {
    this.#unsent.add(frame);
    this.session.outbox.send(frame);
    const { maxControlFrames } = this.session.limits;
    if (this.#unsent.size > maxControlFrames)
      throw ConnectionFault.tooMuch(`more than ${maxControlFrames} unread answers (maxControlFrames)`);
  }
}
