import { log } from '../logger.js';
import { oneLine } from '../util/check.js';
import type { LazyMap } from '../util/collections.js';
import { steadyNow } from '../util/time.js';
import { resetCodeName } from '../wire/codes.js';
import type { ResetCode } from '../wire/codes.js';
import type { PeerLog } from './debug-log.js';

/** The peer that a log names. */
export interface LoggedPeer {
  readonly label: string;
}

/** Makes the log of what a peer does. `logOf` is `null` in a program that never imports `logger`, and so cannot set its level. */
export const debugging: { logOf: ((peer: LoggedPeer) => PeerLog) | null } = { logOf: null };

/** The log has one line a minute for each kind of refusal, because a remote can cause refusals at any rate. */
const PERIOD_MS = 60_000;
/** The most kinds, because a reason may hold a text of the remote. The kinds after these share one line for each code. */
const MOST_KINDS = 20;
/** The parts of a reason that differ within a kind: sizes, and names that the remote chooses. */
const VARIABLE = /\d+|'.*'/g;

/** The last line of each kind, and the refusals since. */
export type RefusalLines = LazyMap<string, { readonly at: number; more: number }>;

/** Warns of a stream of the remote that the library has refused. Its opener may not listen, for example after a `notify`. */
export function warnOfRefusal(lines: RefusalLines, label: string, code: ResetCode, reason: string): void {
  const now = steadyNow();
  const known = `${code} ${reason.replace(VARIABLE, '')}`;
  const kind = lines.has(known) || lines.size < MOST_KINDS ? known : String(code);
  const last = lines.get(kind);
  if (last !== undefined && now - last.at < PERIOD_MS) {
    last.more++;
    return;
  }
  lines.set(kind, { at: now, more: 0 });
  const more = last === undefined || last.more === 0 ? '' : `, and ${last.more} more since the line before`;
  log('warn', `${label} refused a stream with ${resetCodeName(code)}${more}: ${oneLine(reason, 300)}`);
}
