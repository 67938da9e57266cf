import type { Codec, Message } from '../../wire/codec.js';
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
    const fitting = fittingReason(reason, frame, encodedPayload, this.maxFrameBytes, this.codec);
    return new OutgoingFrame({ ...frame, reason: fitting, payload }, encodedPayload, this.codec);
  }

  goaway(code: ResetCode, lastStream: number, reason: string): OutgoingFrame {
    const frame = { type: 'goaway', code, last_stream: lastStream };
    return new OutgoingFrame({ ...frame, reason: fittingReason(reason, frame, null, this.maxFrameBytes, this.codec) }, null);
  }
}
