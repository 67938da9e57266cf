import type { Side } from '../../src/testing.js';
import type { Envelope } from './peer-frames.js';

/** What one side has sent on a stream. */
interface Sent {
  /** The type of a payload whose fragments are still coming. */
  unfinished: unknown;
  ended: boolean;
  reset: boolean;
}

/** What one side has sent that no side may send, whatever the other does, in words; nothing where all is in order. */
export function illegalFrames(frames: readonly Envelope[], role: Side): string[] {
  const faults: string[] = [];
  const streams = new Map<number, Sent>();
  const parity = role === 'dialer' ? 1 : 0;
  let highest = 0;
  let leaving = false;
  for (const frame of frames) {
    const { type, more } = frame;
    const stream = Number(frame['stream'] ?? 0);
    const fault = (what: string): void => void faults.push(`${what}: ${JSON.stringify(frame).slice(0, 200)}`);
    if (type === 'goaway') leaving = true;
    if (stream === 0) continue;
    const own = stream % 2 === parity;
    const before = streams.get(stream);
    const sent = before ?? { unfinished: null, ended: false, reset: false };
    streams.set(stream, sent);
    if (sent.reset) fault('a frame after a reset');
    if (sent.unfinished !== null && type !== 'reset' && type !== sent.unfinished) fault('a frame within the fragments of another');
    if (type === 'open' && sent.unfinished === null) {
      if (!own || stream <= highest) fault('an open of no new stream of its own');
      if (leaving) fault('an open after a goaway');
      highest = stream;
    } else if (own && before === undefined) fault('a frame of a stream that was never opened');
    if (type !== 'reset' && sent.ended) fault('a frame after an end');
    sent.unfinished = more === true ? type : null;
    if (more === true) continue;
    if (frame['end'] === true) sent.ended = true;
    if (type === 'reset') sent.reset = true;
  }
  return faults;
}
