import type { Codec, Message } from '../../wire/codec.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import type { ResetCode } from '../../wire/codes.js';
import { fittingReason } from '../base/reason.js';

/** The form of the messages of a connection. */
export interface MessageForm {
  readonly codec: Codec;
  /** The most bytes of one encoded message. */
  readonly maxFrameBytes: number;
}

/**
 * Makes a reset. Shortens the reason until the frame fits one message.
 *
 * @param encodedPayload the payload, encoded by this codec; `null` for none
 */
export function resetFrame(
  { codec, maxFrameBytes }: MessageForm,
  stream: number,
  code: ResetCode | null,
  reason: string,
  payload: unknown = null,
  encodedPayload: Message | null = null,
): OutgoingFrame {
  const bare = { type: 'reset', stream, code };
  const fitting = fittingReason(reason, bare, encodedPayload, maxFrameBytes, codec);
  return new OutgoingFrame({ ...bare, reason: fitting, payload }, encodedPayload, codec);
}

/** Makes a goaway, with a reason as in {@link resetFrame}. */
export function goawayFrame({ codec, maxFrameBytes }: MessageForm, code: ResetCode, lastStream: number, reason: string): OutgoingFrame {
  const bare = { type: 'goaway', code, last_stream: lastStream };
  return new OutgoingFrame({ ...bare, reason: fittingReason(reason, bare, null, maxFrameBytes, codec) }, null);
}
