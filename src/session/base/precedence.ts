import type { FrameType } from '../../wire/frame-types.js';
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
  // The lanes of `FRAME_TYPES`, spelled out: a look-up for each frame costs more.
  switch (frame.type as FrameType) {
    case 'open':
    case 'data':
      return false;
    case 'reset':
      // A payload may have to be cut, and slices take their turn.
      return overtakes(frame.code) && encodedPartOf(frame) === null;
    case 'ping':
    case 'pong':
    case 'goaway':
      return true;
  }
}
