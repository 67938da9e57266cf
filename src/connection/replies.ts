import { resetFrame } from '../session/send/control-frames.js';
import type { MessageForm } from '../session/send/control-frames.js';
import { LazySet } from '../util/collections.js';
import type { ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/fault.js';
import type { Frame } from '../wire/frame.js';
import type { Limits } from '../wire/limits.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import type { Scheduler } from './outbound.js';

/** The parts of a session that its replies use. */
export interface ReplyHost extends MessageForm {
  readonly scheduler: Pick<Scheduler, 'addAhead'>;
  readonly limits: Pick<Limits, 'maxControlFrames'>;
}

/** The most UTF-16 units of the nonces of all unsent pongs. */
const MAX_NONCE_UNITS = 1024 * 1024;

/**
 * The control frames that the remote alone causes: pongs, and resets of streams that this side does not hold. The connection ends if a
 * remote causes too many and does not read them.
 */
export class ControlReplies {
  readonly #unsent = new LazySet<Frame>();
  /** UTF-16 units of the nonces of unsent pongs. */
  #nonceUnits = 0;

  constructor(private readonly host: ReplyHost) {}

  pong(nonce: string | null): void {
    this.#send(new OutgoingFrame({ type: 'pong', nonce }, null));
  }

  /** Resets a stream that this side does not hold, with a code that overtakes. */
  reset(id: number, code: ResetCode, reason: string): void {
    this.#send(resetFrame(this.host, id, code, reason));
  }

  /** Returns whether a frame is an unsent reply. */
  owes(frame: Frame): boolean {
    return this.#unsent.has(frame);
  }

  /** A frame has left. */
  sent(frame: Frame): void {
    if (this.#unsent.delete(frame)) this.#nonceUnits -= frame.nonce?.length ?? 0;
  }

  #send(frame: OutgoingFrame): void {
    const { maxControlFrames } = this.host.limits;
    this.#unsent.add(frame);
    this.#nonceUnits += frame.nonce?.length ?? 0;
    this.host.scheduler.addAhead(frame);
    if (this.#nonceUnits > MAX_NONCE_UNITS) throw ConnectionFault.tooMuch(`more than ${MAX_NONCE_UNITS} characters of unread pongs`);
    if (this.#unsent.size > maxControlFrames)
      throw ConnectionFault.tooMuch(`more than ${maxControlFrames} unread answers (maxControlFrames)`);
  }
}
