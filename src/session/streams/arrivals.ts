import type { Transport } from '../../transport/transport.js';
import { CloseCode } from '../../wire/close-reason.js';
import type { Message } from '../../wire/codec.js';
import { ConnectionFault } from '../../wire/fault.js';
import type { CompleteFrame } from '../../wire/frame.js';
import { encodedLength } from '../../wire/length.js';
import type { Limits } from '../../wire/limits.js';
import type { Reassembly } from '../../wire/reassembly.js';
import { ResetCode } from '../../wire/reset-code.js';
import type { FrameObserver } from '../base/frame-observer.js';
import type { FloodGuard } from '../base/flood-guard.js';
import type { Admission } from './admission.js';
import type { StreamOwner } from './live-stream-host.js';

/** The parts of a session that arrivals use. */
export interface ArrivalHost {
  readonly number: number;
  readonly transport: Pick<Transport, 'messageBytes'>;
  readonly limits: Limits;
  readonly flood: FloodGuard;
  readonly admission: Admission;
  readonly owner: FrameObserver & Pick<StreamOwner, 'tally'>;
  readonly reassembly: Reassembly;
  readonly watchdog: {
    /** A message has come in. */
    received(bytes: number): void;
    /** A fragment has come in, and more are to follow. */
    watchFragments(reassembly: Reassembly): void;
  };
  /** Whether the connection has failed or ended. */
  readonly isOver: boolean;
}

/** Counts the messages that come in, and checks them and their frames. The inbound pipeline calls {@link message}, then {@link frame}. */
export class Arrivals {
  #messageBytes = 0;

  constructor(private readonly host: ArrivalHost) {}

  /** Bytes of the message in delivery. */
  get messageBytes(): number {
    return this.#messageBytes;
  }

  /** Returns a message to read, or `null` once the connection has failed. */
  readonly message = (message: Message): Message | null => {
    const { isOver, transport, owner, watchdog, flood, limits } = this.host;
    if (isOver) return null;
    const bytes = (this.#messageBytes = transport.messageBytes ?? encodedLength(message));
    owner.tally.receivedFrames++;
    owner.tally.receivedBytes += bytes;
    watchdog.received(bytes);
    flood.received(bytes);
    if (bytes <= limits.maxMessageBytes) return message;
    throw new ConnectionFault(
      `message of ${bytes} bytes is over the limit of ${limits.maxMessageBytes} (maxMessageBytes)`,
      ResetCode.ENHANCE_YOUR_CALM,
      CloseCode.TOO_BIG,
    );
  };

  /** Returns the frame for its stream, or `null` to drop the frame. */
  readonly frame = (frame: CompleteFrame): CompleteFrame | null => {
    const { owner, number, admission, limits, watchdog, reassembly } = this.host;
    owner.observed(number, 'rx', frame, this.#messageBytes);
    // The observer may have ended the connection.
    if (this.host.isOver) return null;
    const admitted = admission.admit(frame);
    if (admitted !== null && this.#messageBytes > limits.maxPayloadBytes && !admission.fits(admitted, this.#messageBytes)) return null;
    if (admitted?.more === true) watchdog.watchFragments(reassembly);
    return admitted;
  };
}
