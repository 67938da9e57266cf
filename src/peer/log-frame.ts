import { log, logger } from '../logger.js';
import { V1_FRAME_TYPES } from '../wire/frame.js';
import type { Frame, FrameDirection } from '../wire/frame.js';

/** Logs one line for a frame, at `debug`: what it is and where it goes, and nothing of what the application put into it. */
export function logFrame(direction: FrameDirection, frame: Frame, connection: number): void {
  if (logger.isEnabledFor('debug')) log('debug', `connection ${connection} ${direction} ${frameLine(frame)}`);
}

function frameLine({ type, stream, fragment, more, end, code, last_stream }: Frame): string {
  const parts = [
    // Any other text is the remote's own.
    V1_FRAME_TYPES.has(type) ? type : 'of an unknown type',
    stream == null ? '' : `stream ${stream}`,
    fragment == null ? '' : 'fragment',
    more === true ? 'more' : '',
    end === true ? 'end' : '',
    code == null ? '' : `code ${code}`,
    last_stream == null ? '' : `last_stream ${last_stream}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}
