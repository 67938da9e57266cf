import { optionError } from '../util/check.js';
import type { Frame } from '../wire/frame.js';

/** Returns the frame to keep, or `null` to leave it out. */
export type Redact = (frame: Frame) => Frame | null;

/** @throws what `redact` throws, and TypeError for a result that is neither a frame nor `null`, such as a promise */
export function redacted(redact: Redact, given: Frame): Frame | null {
  const frame = redact(given);
  if (frame === null || typeof (frame as Partial<Frame> | undefined)?.type === 'string') return frame;
  throw optionError('redact', 'a frame or null', frame);
}
