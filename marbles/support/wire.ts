import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { ResetCode } from '../../src/index.js';
import type { Frame } from '../../src/index.js';
import type { Link } from '../../src/testing.js';

const TYPES: Readonly<Record<string, string>> = { open: 'o', data: 'd', ping: 'p', pong: 'q', goaway: 'g' };

/** Resets by their codes: `r` CANCEL, `n` NO_ERROR, `f` a failure of the handler, `x` REFUSED, `t` a deadline, `z` any other. */
const RESETS: ReadonlyMap<unknown, string> = new Map([
  [ResetCode.CANCEL, 'r'],
  [ResetCode.NO_ERROR, 'n'],
  [ResetCode.APPLICATION_ERROR, 'f'],
  [ResetCode.REFUSED, 'x'],
  [ResetCode.DEADLINE_EXCEEDED, 't'],
]);

/** A frame's letter: `o` open, `d` data, `e` data with the end, `p` ping, `q` pong, `g` goaway. Resets have their own letters. */
export function letterOf(frame: Frame): string {
  if (frame.type === 'reset') return RESETS.get(frame.code) ?? 'z';
  return frame.type === 'data' && frame.end === true ? 'e' : (TYPES[frame.type] ?? '?');
}

/** The frames on a link as a row of letters: small ones from the dialer, capital ones from the acceptor. */
export function wire(link: Pick<Link, 'messages$'>): Observable<string> {
  return link.messages$.pipe(map(({ from, frame }) => (from === 'dialer' ? letterOf(frame) : letterOf(frame).toUpperCase())));
}
