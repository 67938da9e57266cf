import { resetCodeName } from 'rxmux';
import { endOfReset } from './lane.js';
import type { Lane } from './lane.js';
import type { Kind, Marble } from './marble.js';

const KINDS: Readonly<Record<Kind, string>> = {
  open: 'open',
  data: 'data',
  fragment: 'fragment',
  end: 'end',
  reset: 'reset',
  ping: 'ping',
  pong: 'pong',
  goaway: 'goaway',
  unknown: 'unknown',
};
const PREFIXES = ['', 'k', 'M', 'G'];

/** `46 B`, `1.4 kB`, `16.8 MB`. */
export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(PREFIXES.length - 1, Math.floor(Math.log10(Number(bytes.toPrecision(3))) / 3));
  const scaled = bytes / 1000 ** power;
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${PREFIXES[power] ?? ''}B`;
}

/** `0.42 ms`, `14 ms`, `3.4 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  // From these bounds on, the texts would read 1000 ms and 60.0 s.
  if (ms < 999.5) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A time since the feed began: `1:23.456`, or `1:23` without its ms. */
export function clockText(ms: number, digits: 0 | 1 | 3 = 3): string {
  const unit = 10 ** (3 - digits);
  const shown = Math.round(ms / unit) * unit;
  const minutes = Math.floor(shown / 60_000);
  const seconds = ((shown % 60_000) / 1_000).toFixed(digits);
  return `${minutes}:${seconds.padStart(digits === 0 ? 2 : 3 + digits, '0')}`;
}

/** The name of a code: `CANCEL`. */
export function codeName(code: number): string {
  return resetCodeName(code);
}

/** A marble in a few words: `data, end, 46 B`. */
export function marbleText(marble: Marble): string {
  const { f } = marble.line;
  const code = f?.['code'];
  const parts = [
    f === null ? 'a message that does not decode' : marble.kind === 'unknown' ? String(f['type']) : KINDS[marble.kind],
    ...(marble.ends && marble.kind !== 'end' ? ['end'] : []),
    ...(typeof code === 'number' ? [codeName(code)] : []),
    ...(marble.roundTrip === null ? [sizeText(marble.bytes)] : [`round trip ${durationText(marble.roundTrip)}`]),
  ];
  return parts.join(', ');
}

/** A sentence about a marble, for a screen reader. */
export function marbleSentence(marble: Marble): string {
  const side = marble.ofDialer ? 'from the dialer' : 'from the acceptor';
  const after = marble.t - marble.lane.openedAt;
  return `${marbleText(marble)}, ${side}, ${durationText(after)} after the start of ${marble.lane.title}`;
}

/** How many peers are watched, and of how many. */
export function peersText(watched: number, unwatched: number): string {
  return unwatched === 0 ? `${watched} peers` : `${watched} of ${watched + unwatched} peers are watched`;
}

function resetText(reset: Marble): string {
  const code = reset.line.f?.['code'];
  const words = endOfReset(reset) === 'failed' && typeof code === 'number' ? `failed with ${codeName(code)}` : endOfReset(reset);
  return `${words}, by the ${reset.ofDialer ? 'dialer' : 'acceptor'}`;
}

/** The state of a lane, in a few words. */
export function laneState(lane: Lane): string {
  if (lane.reset !== null) return resetText(lane.reset);
  if (lane.end !== null) return lane.end;
  if (lane.isDoubtful) return 'open, or its end was left out';
  return lane.halfEndedAt === Infinity ? 'open' : 'half ended';
}
