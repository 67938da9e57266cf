import { encodedPartOf } from '../../wire/outgoing.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import { FIRST_APPLICATION_CODE, ResetCode } from '../../wire/reset-code.js';

/**
 * Whether a reset drops what its stream has queued and goes ahead of all data. The others, an application's own and those
 * after an answer, take their turn, so that an answer is never destroyed by what follows it.
 */
export function overtakes(code: ResetCode | null): boolean {
  return code !== ResetCode.APPLICATION_ERROR && code !== ResetCode.NO_ERROR && (code === null || code < FIRST_APPLICATION_CODE);
}

/** Whether a frame goes in the control queue, ahead of all data. */
export function isControl(frame: OutgoingFrame): boolean {
  if (frame.type === 'open' || frame.type === 'data') return false;
  // A payload may have to be cut, and slices take their turn.
  return frame.type !== 'reset' || (overtakes(frame.code) && encodedPartOf(frame) === null);
}
