import type { FrameType } from '../../wire/frame-types.js';
import { ABSENT } from '../../wire/frame.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import { FIRST_APPLICATION_CODE, ResetCode } from '../../wire/reset-code.js';

/**
 * Returns whether a reset drops its stream's queued frames and goes ahead of all data. A reset by an application, or after an answer, takes
 * its turn instead. So no reset ever destroys the answer before it.
 */
export function overtakes(code: ResetCode | null): boolean {
  return code !== ResetCode.APPLICATION_ERROR && code !== ResetCode.NO_ERROR && (code === null || code < FIRST_APPLICATION_CODE);
}

/** Returns whether a frame goes into the control queue, ahead of all data. */
export function isControl(frame: OutgoingFrame): boolean {
  // This spells out the lanes of `FRAME_TYPES`, because a look-up for each frame costs more.
  switch (frame.type as FrameType) {
    case 'open':
    case 'data':
      return false;
    case 'reset':
      // A payload may need slices, and slices take their turn.
      return overtakes(frame.code) && frame.payload === ABSENT;
    case 'ping':
    case 'pong':
    case 'goaway':
      return true;
  }
}
