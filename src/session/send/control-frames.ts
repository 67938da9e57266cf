import type { Codec, Message } from '../../wire/codec.js';
import type { Frame } from '../../wire/frame.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import type { ResetCode } from '../../wire/reset-code.js';
import { fittingReason } from '../base/reason.js';

/** Makes frames with a reason. Shortens the reason until the frame fits one message. */
export class ControlFrames {
  constructor(
    private readonly codec: Codec,
    private readonly maxFrameBytes: number,
  ) {}

  /** @param encodedPayload the payload, encoded by this codec; `null` for none */
  reset(
    stream: number,
    code: ResetCode | null,
    reason: string,
    payload: unknown = null,
    encodedPayload: Message | null = null,
  ): OutgoingFrame {
    const frame = { type: 'reset', stream, code };
    return new OutgoingFrame({ ...frame, reason: this.#fitting(reason, frame, encodedPayload), payload }, encodedPayload, this.codec);
  }

  goaway(code: ResetCode, lastStream: number, reason: string): OutgoingFrame {
    const frame = { type: 'goaway', code, last_stream: lastStream };
    return new OutgoingFrame({ ...frame, reason: this.#fitting(reason, frame, null) }, null);
  }

  #fitting(reason: string, frame: Frame, encodedPayload: Message | null): string | null {
    return fittingReason(reason, frame, encodedPayload, this.maxFrameBytes, this.codec);
  }
}
