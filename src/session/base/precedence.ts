import { FIRST_APPLICATION_CODE, ResetCode } from '../../wire/codes.js';

/**
 * Returns whether a reset drops its stream's queued frames and goes ahead of all data. A reset by an application, or after an answer, takes
 * its turn instead. So no reset ever destroys the answer before it.
 */
export function overtakes(code: ResetCode | null): boolean {
  return code !== ResetCode.APPLICATION_ERROR && code !== ResetCode.NO_ERROR && (code === null || code < FIRST_APPLICATION_CODE);
}
